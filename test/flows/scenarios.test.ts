/**
 * The conformance set: every folder of test/scenarios is a task with the replies of a model. `after/` holds what is then
 * not as in `before/`, its `.gone` the names of files that are no more; the events are those of `events.jsonl`.
 * `UPDATE=1 bun test scenarios` writes both anew, to be read before they are kept. `options.json` holds what the command
 * line would; `.keep` stands in folders that hold nothing else.
 */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StampedEvent } from "../../src/core/event.ts";
import type { Json } from "../../src/core/model.ts";
import { type Files, filesIn, placeFiles, play, readScenario } from "./scripted.ts";

const scenarios = join(import.meta.dir, "../scenarios");
const isUpdate = process.env["UPDATE"] === "1";
const marker = ".keep";
const goneList = ".gone";

/** Its files; folders that only hold a marker are empty ones. */
function readFolder(folder: string): Files {
  const files = existsSync(folder) ? Object.entries(filesIn(folder)) : [];
  return Object.fromEntries(
    files.map(([name, text]) => [name.endsWith(marker) ? name.slice(0, -marker.length) : name, text]),
  );
}

/** What `after/` makes of these files. */
function readAfter(folder: string, before: Files): Files {
  const { [goneList]: gone = "", ...changed } = readFolder(folder);
  const all = { ...before, ...changed };
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== "" && !gone.split("\n").includes(name)));
}

function writeAfter(folder: string, before: Files, after: Files): void {
  rmSync(folder, { recursive: true, force: true });
  const changed = Object.entries(after).filter(([name, text]) => before[name] !== text);
  const gone = Object.keys(before).filter((name) => name !== "" && after[name] === undefined);
  const kept = changed.map(([name, text]) => [name.endsWith("/") ? name + marker : name, text] as const);
  placeFiles(folder, Object.fromEntries(gone.length === 0 ? kept : [...kept, [goneList, `${gone.join("\n")}\n`]]));
}

const changing = new Set(["run", "at", "root", "plan", "before", "after", "ms", "estimate", "tokens", "weighed"]);

/** What holds commands differs between machines. */
const isOfMachine = (event: StampedEvent) =>
  event.type === "command.output" || (event.type === "notice" && event.code === "sandbox");

/** Without ids, times, hashes and estimates; the plan stands in the replies. */
function settled(value: Json): Json {
  if (Array.isArray(value)) return value.map(settled);
  if (typeof value === "string") return value.replace(/\bafter \d+ ms\b(?: \(in a sandbox[^)]*\))?/g, "after 0 ms");
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !changing.has(name));
  return Object.fromEntries(kept.map(([name, below]) => [name, name === "sandbox" ? null : settled(below)]));
}

/** Checks before the work run beside calls, so their place among the events is left to chance. */
const isBeside = (event: StampedEvent) =>
  (event.type === "check.started" || event.type === "check.finished") && event.when === "before";

function renderEvents([first, ...rest]: readonly StampedEvent[]): string {
  const beside = rest.filter(isBeside);
  const lines = [...(first === undefined ? [] : [first]), ...beside, ...rest.filter((event) => !isBeside(event))]
    .filter((event) => !isOfMachine(event))
    .map(({ seq: _, ...event }) => JSON.stringify(settled(event as unknown as Json)));
  return `${lines.join("\n")}\n`;
}

const read = (folder: string, name: string) => readFileSync(join(folder, name), "utf8");

test.each(readdirSync(scenarios).sort())("%s", async (name) => {
  const folder = join(scenarios, name);
  const scenario = readScenario(folder);
  const before = readFolder(join(folder, "before"));
  const { "": _, ...start } = before;
  const { requests, files, events } = await play({ ...scenario, files: start });
  if (isUpdate) {
    writeAfter(join(folder, "after"), start, files);
    writeFileSync(join(folder, "events.jsonl"), renderEvents(events));
  }
  expect(files).toEqual(readAfter(join(folder, "after"), start));
  expect(renderEvents(events)).toBe(read(folder, "events.jsonl"));
  expect(requests.length).toBe(scenario.lines.length);
});
