/**
 * Weighs the source: prints each measure of simplicity as it was at f076cdc7, as it is in this tree, and its limit:
 * `bun scripts/weigh.ts [--list]`. `--list` also names what was counted.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { renderTable } from "./table.ts";
import { traceEdit, walkOf } from "./weigh/story.ts";

const root = join(import.meta.dir, "..");
const src = join(root, "src");

const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const linesOf = (text: string): number => text.split("\n").length - 1;

/** Source without its comments, so that a word in one counts as nothing. */
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");

/** Path below src, and its text. */
const sources = new Map(filesIn("src").map((name) => [name, readFileSync(join(src, name), "utf8")]));

function countLines(folder: string): number {
  return filesIn(folder).reduce((sum, name) => sum + linesOf(readFileSync(join(root, folder, name), "utf8")), 0);
}

/** Every place of this pattern, as "file: count". */
function placesOf(pattern: RegExp): readonly string[] {
  return [...sources].flatMap(([name, text]) => [...withoutComments(text).matchAll(pattern)].map(() => name));
}

/** Types, functions and constants that two files export by one name. */
function namesTwice(): readonly string[] {
  const declared = /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) +(\w+)/gm;
  const homes = new Map<string, string[]>();
  for (const [file, text] of sources) {
    const names = new Set([...text.matchAll(declared)].map(([, name = ""]) => name));
    for (const name of names) homes.set(name, [...(homes.get(name) ?? []), file]);
  }
  return [...homes].filter(([, files]) => files.length > 1).map(([name, files]) => `${name}: ${files.join(", ")}`);
}

/** Rows of tables (commands, actions, bridges, modes): each is imported by its table and by nothing else. */
const isRow = (file: string): boolean =>
  /^(?:cli|lab)\/commands\/|^actions\/|^models\/\w+\/bridge\.ts$|^flows\/(?:auto|eight-step|single-shot)\.ts$/.test(
    file,
  );

/** Files of at most 60 lines that exactly one other file imports, in any way. */
function smallOnce(): readonly string[] {
  const importers = new Map<string, Set<string>>();
  for (const [file, text] of sources)
    for (const [, name = ""] of text.matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\(\s*)"(\.[^"]+)"/g)) {
      const target = normalize(join(dirname(file), name));
      importers.set(target, (importers.get(target) ?? new Set()).add(file));
    }
  return [...sources]
    .filter(([file, text]) => importers.get(file)?.size === 1 && linesOf(text) <= 60 && !isRow(file))
    .map(([file, text]) => `${file} (${linesOf(text)}) < ${[...(importers.get(file) ?? [])].join()}`);
}

/** Fields of the first interface with this name; null: there is none. */
function fieldsOf(name: string, text: string): readonly { readonly name: string; readonly type: string }[] | null {
  const body = new RegExp(`^export interface ${name} (?:extends [^{]+)?\\{\\n([\\s\\S]*?)^\\}`, "m").exec(text)?.[1];
  if (body === undefined) return null;
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)(?:\?|\(.*\))?: ?(.*)$/gm)].map(([, field = "", type = ""]) => ({
    name: field,
    type: type.replace(/;$/, ""),
  }));
}

/**
 * What every flow can touch: the fields of a `Run`, its task left out, and of the interfaces in flows/run.ts that it
 * holds. What those of another file hold (a ledger, the state of the checks) belongs to that file.
 */
function sharedFields(): readonly string[] {
  const text = withoutComments(sources.get("flows/run.ts") ?? "").replace(/\n{2,}/g, "\n");
  return (fieldsOf("Run", text) ?? [])
    .filter(({ name }) => name !== "task")
    .flatMap(({ name, type }) => fieldsOf(type, text)?.map((field) => `${name}.${field.name}`) ?? [name]);
}

/** Kilobytes of the papers for people. */
function papers(): number {
  const docs = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const all = [...docs.map((name) => `docs/${name}`), "CHANGELOG.md"];
  return Math.round(all.reduce((sum, name) => sum + statSync(join(root, name)).size, 0) / 1000);
}

function dependencies(): readonly string[] {
  return Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).dependencies);
}

interface Row {
  /** Measure, before, now, limit. */
  readonly cells: readonly string[];
  /** What was counted, for --list. */
  readonly counted: readonly string[];
}

const spell = (count: number): string => count.toLocaleString("en");
const row = (measure: string, before: string, now: string, limit = ""): Row => ({
  cells: [measure, before, now, limit],
  counted: [],
});
const counting = (measure: string, before: string, counted: readonly string[], limit: string): Row => ({
  cells: [measure, before, spell(counted.length), limit],
  counted,
});

const trace = await traceEdit();
const walk = walkOf(trace);
const imports = placesOf(/(?<!typeof )\bimport\(/g);
const firstUses = placesOf(/\batFirstUse\((?!make\b)/g);
const loaded = trace.files.reduce((sum, { file }) => sum + linesOf(sources.get(file) ?? ""), 0);

const rows = [
  row("lines / files of src", "64,163 / 612", `${spell(countLines("src"))} / ${sources.size}`, "60,000 / 540"),
  counting("files of the story of a one-line edit", "104", walk, "65"),
  row("modules / lines that it loads", "356 / 38,274", `${trace.files.length} / ${spell(loaded)}`),
  counting("dynamic imports", "177", imports, "25"),
  counting("uses of atFirstUse", "24", firstUses, "3"),
  counting("exported names that exist twice", "73", namesTwice(), "0"),
  counting("files of 60 lines or less imported once", "76", smallOnce(), "25"),
  counting("fields of the state that all flows share", "74", sharedFields(), "25"),
  row(
    "lines of tests / of scripts",
    "49,305 / 4,167",
    `${spell(countLines("test"))} / ${spell(countLines("scripts"))}`,
    "49,000 / 3,600",
  ),
  row("docs and CHANGELOG, KB", "196", spell(papers()), "110"),
  counting("runtime dependencies", "13", dependencies(), "12"),
];
console.log(renderTable([["measure", "before", "now", "limit"], ...rows.map(({ cells }) => cells)]));
if (process.argv.includes("--list"))
  for (const { cells, counted } of rows)
    if (counted.length > 0) console.log(`\n${cells[0]}:\n${counted.map((each) => `  ${each}`).join("\n")}`);
