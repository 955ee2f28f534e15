/**
 * Renews src/models/catalogue.json and says what changed: `bun scripts/catalogue.ts [-n] [--date DAY] [FILE…]`. A FILE has
 * the form of models.dev's `api.json`; its owner downloads it. What models.dev does not tell (announced prices, who gets a
 * model no more) stands in catalogue/announced.json, which is read last and wins. `-n` writes nothing.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mergeModels } from "./catalogue/merge.ts";
import { readModels } from "./catalogue/models-dev.ts";

const announced = join(import.meta.dir, "catalogue/announced.json");
const table = join(import.meta.dir, "../src/models/catalogue.json");
/** models.dev's file has about 3 MB. */
const maxBytes = 64 * 1024 * 1024;

function readOptions() {
  const { values, positionals: files } = parseArgs({
    allowPositionals: true,
    options: { date: { type: "string" }, "dry-run": { type: "boolean", short: "n" } },
  });
  const day = values.date ?? new Date().toISOString().slice(0, 10);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day));
  if (!isDay) throw new Error(`--date ${day} is not a day such as 2026-11-23`);
  return { files, day, dryRun: values["dry-run"] === true };
}

function readFile(file: string): string {
  if (statSync(file).size > maxBytes) throw new Error(`${file} is too large: more than ${maxBytes / 1024 / 1024} MB`);
  return readFileSync(file, "utf8");
}

try {
  const { files, day, dryRun } = readOptions();
  const catalogue = JSON.parse(readFileSync(table, "utf8"));
  const given = [...files, announced].flatMap((file) => readModels(readFile(file), file));
  const { models, changes } = mergeModels(catalogue.models, given, day);
  if (!dryRun) {
    writeFileSync(table, JSON.stringify({ ...catalogue, made: day, models }));
    spawnSync("bunx", ["biome", "format", `--config-path=${import.meta.dir}/lint.json`, "--write", table]);
  }
  console.log(changes.length === 0 ? "no model changes" : changes.join("\n"));
} catch (thrown) {
  console.error((thrown as Error).message);
  process.exitCode = 2;
}
