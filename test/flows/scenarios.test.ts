/**
 * The conformance set: every folder of test/scenarios is a task with the replies of a model. `before/` becomes `after/`
 * and the events are those of `events.jsonl`. `UPDATE=1 bun test scenarios` writes both anew, to be read before they are kept.
 * `options.json` holds what the command line would; `.keep` stands in folders that hold nothing else.
 */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StampedEvent } from "../../src/core/event.ts";
import type { Json } from "../../src/core/model.ts";
import { type Files, filesIn, placeFiles, play, readScenario } from "./scripted.ts";

const scenarios = join(import.meta.dir, "../scenarios");
const isUpdate = process.env["UPDATE"] === "1";
const marker = ".keep";

function readFolder(folder: string): Files {
  const files = Object.entries(filesIn(folder));
  return Object.fromEntries(files.filter(([name]) => !name.endsWith(marker)));
}

function writeFolder(folder: string, files: Files): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const kept = Object.entries(files).map(([name, text]) => [name.endsWith("/") ? name + marker : name, text] as const);
  placeFiles(folder, Object.fromEntries(kept.length === 0 ? [[marker, ""]] : kept));
}

/** Folders that only hold a marker are empty ones. */
function emptyFoldersIn(folder: string): Files {
  const names = Object.keys(filesIn(folder)).filter((name) => name.endsWith(`/${marker}`));
  return Object.fromEntries(names.map((name) => [name.slice(0, -marker.length), ""]));
}

const changing = new Set(["run", "at", "root", "plan", "before", "after", "ms", "estimate", "tokens", "weighed"]);

/** What holds commands differs between machines. */
const isOfMachine = (event: StampedEvent) => event.type === "notice" && event.code === "sandbox";

/** Without ids, times, hashes and estimates; the plan stands in the replies. */
function settled(value: Json): Json {
  if (Array.isArray(value)) return value.map(settled);
  if (typeof value === "string") return value.replace(/\bafter \d+ ms\b/g, "after 0 ms");
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
  const { requests, files, events } = await play({
    ...scenario,
    files: { ...readFolder(join(folder, "before")), ...emptyFoldersIn(join(folder, "before")) },
  });
  if (isUpdate) {
    writeFolder(join(folder, "after"), files);
    writeFileSync(join(folder, "events.jsonl"), renderEvents(events));
  }
  expect(files).toEqual({ ...readFolder(join(folder, "after")), ...emptyFoldersIn(join(folder, "after")) });
  expect(renderEvents(events)).toBe(read(folder, "events.jsonl"));
  expect(requests.length).toBe(scenario.lines.length);
});
