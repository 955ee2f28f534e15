/** What a list of ignore rules says of paths, asked folder by folder, is what the library says of whole paths. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import ignore from "ignore";
import { type IgnoreVerdict, openIgnoreList } from "../../src/workspace/ignore-list.ts";

/** What a walk that enters no ignored folder hears of the path; "ignored" too if it never gets there. */
function askStepwise(rules: readonly string[], path: string): IgnoreVerdict {
  const list = openIgnoreList(rules.join("\n"));
  let verdict: IgnoreVerdict = null;
  const parts = path.split("/");
  for (const [at, name] of parts.entries()) {
    verdict = list.within(parts.slice(0, at).join("/"))(name, at < parts.length - 1);
    if (verdict === "ignored") return verdict;
  }
  return verdict;
}

function askLibrary(rules: readonly string[], path: string): IgnoreVerdict {
  // The library takes a byte order mark at the very beginning for that of a file.
  const { ignored, unignored } = ignore({ ignorecase: false })
    .add(`\n${rules.join("\n")}`)
    .test(path);
  if (ignored) return "ignored";
  return unignored ? "unignored" : null;
}

const name = fc.constantFrom("a", "b", "ab", "a.b", "b.a", "c", ".a", "#a", "!a", "a ", "a\t", "é");
const glob = fc.constantFrom(
  "*",
  "a*",
  "a*b",
  "*.b",
  "*.[ab]",
  "?.b*",
  "?",
  "[ab]",
  "[!a]b",
  "**",
  "\\a",
  "\\!a",
  "\\#a",
  "a\\ ",
);
const part = fc.oneof({ weight: 3, arbitrary: name }, glob);
const rule = fc
  .tuple(
    fc.constantFrom("", "", "", "!"),
    fc.constantFrom("", "", "/", "**/"),
    fc.array(part, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "", "/", "/**", " ", "/ ", "\t"),
  )
  .map(([negation, start, parts, end]) => `${negation}${start}${parts.join("/")}${end}`);
/** Rules that nobody would write. */
const oddRule = fc.string({ unit: fc.constantFrom(..."\ufeffab.*?[]!^-\\/# \t{}()+|$é:"), minLength: 1, maxLength: 8 });
const oddName = fc.string({ unit: fc.constantFrom(..."ab.[]!^-# \t{}()+|$é*?:"), minLength: 1, maxLength: 4 });
const path = fc
  .array(fc.oneof({ weight: 3, arbitrary: name }, oddName), { minLength: 1, maxLength: 4 })
  .filter((names) => !names.some((each) => /^\.\.?$/.test(each)))
  .map((names) => names.join("/"));

test("any rules, any path", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(rule, oddRule), { maxLength: 4 }),
      fc.array(path, { minLength: 1, maxLength: 12 }),
      (rules, paths) => {
        for (const each of paths) expect([each, askStepwise(rules, each)]).toEqual([each, askLibrary(rules, each)]);
      },
    ),
    { numRuns: 3000 },
  );
});
