/** What becomes of each effect of a command: every row of the table in effects.md. `UPDATE=1` writes the table anew. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxSettings } from "../../../src/workspace/sandbox/settings.ts";
import { needs } from "../../needs.ts";
import { copies, here } from "../../workspace/sandbox/here.ts";
import { finish, planTo, write } from "../plans.ts";
import { filesIn, makeFolder, openHere, playIn, type Ran, type Setup } from "../scripted.ts";

/** Where commands of the model work, and the sandboxes of this machine that do it like that. */
const places: Readonly<Record<string, readonly Partial<SandboxSettings>[]>> = {
  "on a copy": here.proposes ? [{}] : [],
  "in place": [{ choice: "off" }, ...(here.level === "full" ? [{ only: "landlock" } as const] : [])],
};

const allowed = { allowRun: true, allowDelete: true, allow: [".github/**"] };
const again = [finish("It could not be."), finish("It could not be.")];
const writes = [planTo("WRITE w.txt"), write("w.txt", "w\n") + finish(), ...again];
const runs = (command: string) => [planTo(`RUN ${command}`), `RUN::${command}\n${finish()}`, ...again];

/** Who ran the command, without a person to ask. */
const makers: Readonly<Record<string, (command: string) => Pick<Setup, "lines" | "options">>> = {
  "the model": (command) => ({ lines: runs(command), options: { allowRun: true } }),
  "the model with all flags": (command) => ({ lines: runs(command), options: allowed }),
  "the model in a run that fails": (command) => ({ lines: runs(command), options: { ...allowed, checks: ["false"] } }),
  "a check that passes": (command) => ({ lines: writes, options: { checks: [command] } }),
  "a check that fails": (command) => ({ lines: writes, options: { checks: [`${command}; false`] } }),
};

/** An old and a new path of each class. */
const classes: Readonly<Record<string, readonly [was: string, made: string]>> = {
  open: ["open.txt", "new.txt"],
  ignored: ["kept.csv", "new.csv"],
  built: ["node_modules/m.js", "node_modules/new.js"],
  closed: [".env", ".env.local"],
  asked: [".github/workflows/ci.yml", ".github/workflows/new.yml"],
};
const effects = ["made", "changed", "deleted"];
const files: Readonly<Record<string, string>> = {
  ".gitignore": "*.csv\nnode_modules/\n",
  ...Object.fromEntries(Object.values(classes).map(([was]) => [was, "old\n"])),
};

const columns = ["where", "class", "effect", "by", "shown", "listed", "after", "undo", "said"] as const;
/** One line of the table; `by` names one maker here, and all that lead to the same in the file. */
type Row = Readonly<Record<(typeof columns)[number], string>>;
const joint = " · ";

const pathOf = (row: Row): string => classes[row.class]?.[row.effect === "made" ? 1 : 0] ?? "";

/** Does it, and says so if the sandbox keeps the command off the file. */
function commandOf(row: Row): string {
  const path = pathOf(row);
  const [does, isDone] =
    row.effect === "deleted" ? [`rm -f ${path}`, `[ ! -e ${path} ]`] : [`echo new > ${path}`, `grep -qx new ${path}`];
  return `{ ${does}; ${isDone} || echo KEPT OFF; } 2>/dev/null`;
}

/** Why all of the command was refused; or notices about the path, by their code, and whether the outcome counts it. */
function saidOf({ eventsOf, outcome }: Ran, path: string): string {
  const refused = eventsOf("call.finished").map(({ text }) => /(?:kept|taken back)\. (.*)/.exec(text)?.[1]);
  if (refused[0] !== undefined) return `refused: ${refused[0]}`;
  const top = path.split("/")[0] ?? "";
  const notices = eventsOf("notice")
    .map(({ code, text }) => `${code}: ${text.replace(/^.*2>\/dev\/null(?:; false)?: /, "")}`)
    .filter((text) => text.includes(top) && !text.startsWith("sandbox"));
  const isCounted = outcome.stays?.paths.some((each) => each === path || path.startsWith(`${each}/`)) === true;
  return [...new Set([...notices, ...(isCounted ? ["stays"] : [])])].join("; ");
}

/** Whether the command said so when it first ran; a check that fails runs twice. */
function isKeptOff({ eventsOf }: Ran): boolean {
  const ran = eventsOf("call.finished").filter(({ action }) => action === "RUN");
  const [first = ""] = [...ran.map(({ text }) => text), ...eventsOf("check.finished").map(({ output }) => output)];
  return /^KEPT OFF$/m.test(first);
}

/** Plays a row's command, and says what became of its effect. */
async function observe(row: Row, sandbox: Partial<SandboxSettings>): Promise<Row> {
  const place = makeFolder(files);
  const path = pathOf(row);
  const setup = makers[row.by]?.(commandOf(row));
  if (setup === undefined) throw new Error(`nobody is called ${row.by}`);
  const ran = await playIn(place, { ...setup, files, options: { baseline: false, ...setup.options }, sandbox });
  const isChanged = (now: Ran["files"]) => now[path] !== files[path];
  const after = isChanged(ran.files) ? "kept" : isKeptOff(ran) ? "kept off" : "as before";
  if (after === "kept") {
    await (await openHere(place, sandbox)).history.undo(null, { dryRun: false }).catch(() => {});
  }
  const shown = [
    ...(ran.eventsOf("changes.proposed").some(({ diff }) => diff.includes(path)) ? ["before"] : []),
    ...(ran.outcome.diff.includes(path) ? ["at the end"] : []),
  ];
  return {
    ...row,
    shown: shown.join(", "),
    listed: ran.outcome.changes.find((change) => change.path === path)?.op ?? "",
    after,
    undo: after !== "kept" ? "" : isChanged(filesIn(place.root)) ? "stays" : "as before",
    said: saidOf(ran, path),
  };
}

const file = join(import.meta.dir, "effects.md");
const lines = readFileSync(file, "utf8").split("\n");
const written = lines.flatMap((line): readonly Row[] => {
  const cells = line.split("|").map((cell) => cell.trim());
  const row = Object.fromEntries(columns.map((column, at) => [column, cells[at + 1] ?? ""])) as Row;
  return places[row.where] === undefined ? [] : row.by.split(joint).map((by) => ({ ...row, by }));
});

const cases = Object.keys(places).flatMap((where) =>
  Object.keys(classes).flatMap((kind) =>
    effects.flatMap((effect) => Object.keys(makers).map((by) => ({ where, class: kind, effect, by }))),
  ),
);
const seen: Row[] = [];

for (const each of cases) {
  const name = `${each.class} ${each.effect} by ${each.by}, ${each.where}`;
  const expected = written.find((row) =>
    (["where", "class", "effect", "by"] as const).every((c) => row[c] === each[c]),
  );
  const ways = places[each.where] ?? [];
  if (ways.length === 0) needs(copies).test(name, () => {});
  // Sandboxes differ in what they keep a command of the model off, and in nothing that is done afterwards.
  for (const way of each.by === "the model" ? ways : ways.slice(0, 1)) {
    test(way.only === undefined ? name : `${name} (${way.only})`, async () => {
      const row = await observe({ shown: "", listed: "", after: "", undo: "", said: "", ...each }, way);
      if (way === ways[0]) seen.push(row);
      expect(row).toEqual(process.env["UPDATE"] === "1" ? row : (expected as Row));
    });
  }
}

/** Rows that differ only in who made the effect become one line. */
function render(rows: readonly Row[]): readonly string[] {
  const byEnd = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify({ ...row, by: "" });
    const known = byEnd.get(key);
    byEnd.set(key, known === undefined ? row : { ...known, by: `${known.by}${joint}${row.by}` });
  }
  return [...byEnd.values()].map((row) => `| ${columns.map((column) => row[column]).join(" | ")} |`);
}

afterAll(() => {
  if (process.env["UPDATE"] !== "1" || seen.length < cases.length) return;
  const head = lines.slice(0, lines.findIndex((line) => line.startsWith("| ---")) + 1);
  writeFileSync(file, [...head, ...render(seen), ""].join("\n"));
});
