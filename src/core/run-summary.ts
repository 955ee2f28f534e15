/** A run as one row of the statistics, taken from its receipt. Pure. */
import { exitCodes } from "./error.ts";
import { type Fields, isFields } from "./model.ts";
import type { FactOf } from "./receipt.ts";

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;
const countOf = (value: unknown): number => Math.max(0, numberOf(value) ?? 0);

const text = (maxLength: number) => (value: unknown) => (typeof value === "string" ? value.slice(0, maxLength) : "");
const textOrNull = (maxLength: number) => (value: unknown) => text(maxLength)(value) || null;

/** How each column is read, also from rows of other machines. Money in USD, times in milliseconds; null: unknown. */
const runColumns = {
  id: text(40),
  root: text(4096),
  at: text(40),
  task: text(200),
  mode: text(40),
  model: text(200),
  /** As in its outcome, "planned" if it only made a plan; null: the run is still at work, or was cut off. */
  status: textOrNull(20),
  code: numberOf,
  calls: countOf,
  expected: countOf,
  atMost: countOf,
  input: countOf,
  cached: countOf,
  output: countOf,
  cost: numberOf,
  ms: numberOf,
  actions: numberOf,
  files: countOf,
  added: countOf,
  deleted: countOf,
  score: numberOf,
  checks: countOf,
  checksPassed: countOf,
  refused: countOf,
  amended: countOf,
  sandbox: textOrNull(20),
};

export type RunSummary = {
  readonly [Name in keyof typeof runColumns]: ReturnType<(typeof runColumns)[Name]>;
};

export const columnNames = Object.keys(runColumns) as readonly (keyof RunSummary)[];

const readRow = (row: { readonly [name: string]: unknown }): RunSummary =>
  Object.fromEntries(columnNames.map((name) => [name, runColumns[name](row[name])])) as RunSummary;

export interface GroupTotals {
  readonly key: string;
  readonly runs: number;
  readonly solved: number;
  readonly verified: number;
  readonly calls: number;
  /** Runs that made no more calls than they promised at most. */
  readonly kept: number;
  readonly tokens: number;
  readonly cached: number;
  readonly cost: number;
  readonly unpriced: number;
  readonly ms: number;
  readonly refused: number;
  readonly amended: number;
  readonly changed: number;
  readonly undone: number;
}

export interface TeamRun extends RunSummary {
  readonly who: string;
  readonly host: string;
  readonly folder: string;
  readonly undone: boolean;
}

const sumOf = (items: readonly unknown[], name: string): number =>
  items.reduce<number>((sum, item) => sum + countOf(fieldsOf(item)[name]), 0);

function between(from: string, to: string): number | null {
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

const timeOf = (id: string): string =>
  id.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)(\d{3})-.*$/, "$1-$2-$3T$4:$5:$6.$7Z");

/** From the first and the last fact of a receipt, which somebody else may have written: missing fields are empty. */
export function summarizeRun(
  id: string,
  started: FactOf<"run.started"> | null,
  finished: FactOf<"run.finished"> | null,
): RunSummary {
  const begun = fieldsOf(started);
  const ended = fieldsOf(finished);
  const outcome = fieldsOf(ended["outcome"]);
  const [calls, usage, actions] = [outcome["calls"], outcome["usage"], outcome["actions"]].map(fieldsOf);
  const changes = listOf(outcome["changes"]);
  const checks = listOf(outcome["checks"]).map(fieldsOf);
  const at = text(40)(begun["at"]) || timeOf(id);
  const status = outcome["planned"] === true ? "planned" : outcome["status"];
  return readRow({
    id,
    root: begun["root"],
    at,
    task: fieldsOf(begun["task"])["text"],
    mode: outcome["mode"] || begun["mode"],
    model: fieldsOf(outcome["model"])["requested"] || fieldsOf(begun["model"])["id"],
    status,
    code: outcome["code"],
    calls: calls?.["sent"] ?? calls?.["made"],
    expected: calls?.["expected"],
    atMost: calls?.["at_most"],
    input: usage?.["input"],
    cached: usage?.["cached"],
    output: usage?.["output"],
    // Nothing was asked, so no price needs to be known.
    cost: outcome["cost"] ?? (calls?.["made"] === 0 ? 0 : null),
    ms: numberOf(outcome["ms"]) ?? between(at, text(40)(ended["at"])),
    actions: actions?.["done"],
    files: changes.length,
    added: sumOf(changes, "added"),
    deleted: sumOf(changes, "deleted"),
    score: outcome["score"],
    checks: checks.length,
    checksPassed: checks.filter((check) => check["passed"] === true).length,
    // A refused plan has no action of its own.
    refused: Math.max(listOf(outcome["refused"]).length, outcome["code"] === exitCodes.scope_refused ? 1 : 0),
    amended: listOf(outcome["amended"]).length,
    sandbox: outcome["sandbox"],
  });
}

export function readTeamRun(row: unknown): TeamRun {
  const loose = fieldsOf(row);
  const [who, host] = [text(63)(loose["who"]), text(255)(loose["host"])];
  return { who, host, folder: `${who}@${host}`, undone: loose["undone"] === true, ...readRow(loose) };
}
