/** Deliberate bugs as replace rules: what each breaks, and the tests that must notice (mutants.txt). */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** In a file, relative to the repository, `text` stands exactly once and becomes `other`. */
export interface Rule {
  readonly file: string;
  readonly text: string;
  readonly other: string;
}

export interface Mutant {
  readonly name: string;
  readonly what: string;
  /** Test files, relative to the repository. */
  readonly tests: readonly string[];
  readonly rules: readonly Rule[];
}

/** All mutants of a checkout. Throws for a text that is not one. */
export function readMutants(root: string): readonly Mutant[] {
  const text = readFileSync(join(root, "test/mutants.txt"), "utf8");
  return text
    .trim()
    .split(/\n{2,}/)
    .map(parseMutant);
}

/** "NAME: WHAT", "  noticed by TESTS", then for each rule "  FILE" and lines that begin with "  - " or "  + ". */
function parseMutant(paragraph: string): Mutant {
  const [head = "", by = "", ...lines] = paragraph.split("\n");
  const [, name = "", what = ""] = /^([\w-]+): (.+)$/.exec(head) ?? [];
  const tests = /^ {2}noticed by (.+)$/.exec(by)?.[1]?.split(" ") ?? [];
  const rules: { readonly file: string; readonly text: string[]; readonly other: string[] }[] = [];
  for (const line of lines) {
    const [, mark = "", rest = ""] = /^ {2}([-+] |(?=\S))(.*)$/.exec(line) ?? [];
    if (mark === "" && rest !== "") rules.push({ file: rest, text: [], other: [] });
    else if (mark === "- ") rules.at(-1)?.text.push(rest);
    else if (mark === "+ ") rules.at(-1)?.other.push(rest);
    else throw new Error(`mutant ${name}: what is "${line}"?`);
  }
  if (name === "" || tests.length === 0 || rules.length === 0) throw new Error(`no mutant: "${head}"`);
  const joined = rules.map(({ file, text, other }) => ({ file, text: text.join("\n"), other: other.join("\n") }));
  return { name, what, tests, rules: joined };
}

/** The source with the bug in it; null: the text does not stand in it exactly once. */
export function mutate(source: string, { text, other }: Rule): string | null {
  const at = source.indexOf(text);
  if (text === "" || at < 0 || source.includes(text, at + 1)) return null;
  return source.slice(0, at) + other + source.slice(at + text.length);
}
