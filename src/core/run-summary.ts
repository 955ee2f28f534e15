/** A run as one row of the statistics, taken from its receipt. Pure. */
import type { FactOf } from "./receipt.ts";

/** Numbers are null where the receipt does not tell them; money in USD, times in milliseconds. */
export interface RunSummary {
  readonly id: string;
  /** The project's folder. */
  readonly root: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** From the receipt, so keys are masked. */
  readonly task: string;
  readonly mode: string;
  readonly model: string;
  /** As in its outcome, "planned" if it only made a plan; null: the run is still at work, or was cut off. */
  readonly status: string | null;
  readonly code: number | null;
  readonly calls: number;
  readonly expected: number;
  readonly atMost: number;
  readonly input: number;
  /** Of the input, what a service had in its cache. */
  readonly cached: number;
  readonly output: number;
  readonly cost: number | null;
  readonly ms: number | null;
  readonly actions: number | null;
  readonly files: number;
  readonly added: number;
  readonly deleted: number;
  readonly score: number | null;
  readonly checks: number;
  readonly checksPassed: number;
  /** Actions that were refused, for their path or otherwise. */
  readonly refused: number;
  readonly amended: number;
  readonly sandbox: string | null;
}

/** The totals of a group of runs. Money in USD, times in milliseconds. */
export interface GroupTotals {
  readonly key: string;
  readonly runs: number;
  /** Ended with exit code 0. */
  readonly solved: number;
  readonly verified: number;
  readonly calls: number;
  /** Runs that made no more calls than they promised at most. */
  readonly kept: number;
  readonly tokens: number;
  /** Of the tokens, what services had in their caches. */
  readonly cached: number;
  /** Of the runs whose price is known. */
  readonly cost: number;
  readonly unpriced: number;
  readonly ms: number;
  readonly refused: number;
  readonly amended: number;
  readonly changed: number;
  readonly undone: number;
}

/** A run of another machine, from the team's database. */
export interface TeamRun extends RunSummary {
  /** The database login that stored the run. */
  readonly who: string;
  readonly host: string;
  readonly undone: boolean;
}

type Loose = { readonly [name: string]: unknown };

const isLoose = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Loose => (isLoose(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown, maxLength = 200): string =>
  typeof value === "string" ? value.slice(0, maxLength) : "";
const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;
const countOf = (value: unknown): number => Math.max(0, numberOf(value) ?? 0);

const sumOf = (items: readonly unknown[], name: string): number =>
  items.reduce<number>((sum, item) => sum + countOf(fieldsOf(item)[name]), 0);

/** Milliseconds between two times as receipts write them; null: one of them is not a time. */
function between(from: string, to: string): number | null {
  const ms = Date.parse(to) - Date.parse(from);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

/** The time in a run's id, for a receipt without one. */
const timeOf = (id: string): string =>
  id.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)(\d{3})-.*$/, "$1-$2-$3T$4:$5:$6.$7Z");

/**
 * The row of run `id` from the first and the last fact of its receipt. Neither is trusted: for a receipt that somebody
 * else wrote or that was damaged, missing fields are empty.
 */
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
  const at = textOf(begun["at"], 40) || timeOf(id);
  const status = outcome["planned"] === true ? "planned" : textOf(outcome["status"], 20);
  return {
    id,
    root: textOf(begun["root"], 4096),
    at,
    task: textOf(fieldsOf(begun["task"])["text"]),
    mode: textOf(outcome["mode"], 40) || textOf(begun["mode"], 40),
    model: textOf(fieldsOf(outcome["model"])["requested"]) || textOf(fieldsOf(begun["model"])["id"]),
    status: status === "" ? null : status,
    code: numberOf(outcome["code"]),
    calls: countOf(calls?.["sent"] ?? calls?.["made"]),
    expected: countOf(calls?.["expected"]),
    atMost: countOf(calls?.["at_most"]),
    input: countOf(usage?.["input"]),
    cached: countOf(usage?.["cached"]),
    output: countOf(usage?.["output"]),
    cost: numberOf(outcome["cost"]),
    ms: numberOf(outcome["ms"]) ?? between(at, textOf(ended["at"], 40)),
    actions: numberOf(actions?.["done"]),
    files: changes.length,
    added: sumOf(changes, "added"),
    deleted: sumOf(changes, "deleted"),
    score: numberOf(outcome["score"]),
    checks: checks.length,
    checksPassed: checks.filter((check) => check["passed"] === true).length,
    refused: listOf(outcome["refused"]).length,
    amended: listOf(outcome["amended"]).length,
    sandbox: textOf(outcome["sandbox"], 20) || null,
  };
}

/** Reads a row that another machine wrote: texts are cut to their limits; a figure that is not a number is unknown. */
export function readTeamRun(row: unknown): TeamRun {
  const loose = fieldsOf(row);
  const text = (name: string, maxLength?: number) => textOf(loose[name], maxLength);
  const number = (name: string) => numberOf(loose[name]);
  const count = (name: string) => countOf(loose[name]);
  return {
    who: text("who", 63),
    host: text("host", 255),
    undone: loose["undone"] === true,
    id: text("id", 40),
    root: text("root", 4096),
    at: text("at", 40),
    task: text("task"),
    mode: text("mode", 40),
    model: text("model"),
    status: text("status", 20) || null,
    code: number("code"),
    calls: count("calls"),
    expected: count("expected"),
    atMost: count("atMost"),
    input: count("input"),
    cached: count("cached"),
    output: count("output"),
    cost: number("cost"),
    ms: number("ms"),
    actions: number("actions"),
    files: count("files"),
    added: count("added"),
    deleted: count("deleted"),
    score: number("score"),
    checks: count("checks"),
    checksPassed: count("checksPassed"),
    refused: count("refused"),
    amended: count("amended"),
    sandbox: text("sandbox", 20) || null,
  };
}

/** Names of the sums of a group. */
export const totalNames = [
  "runs",
  "solved",
  "verified",
  "calls",
  "kept",
  "tokens",
  "cached",
  "cost",
  "unpriced",
  "ms",
].concat(["refused", "amended", "changed", "undone"]) as readonly Exclude<keyof GroupTotals, "key">[];

/** The totals of a group, from rows of the database. */
export function readTotals(row: unknown): GroupTotals {
  const loose = fieldsOf(row);
  const sums = totalNames.map((name) => [name, countOf(loose[name])] as const);
  return { key: textOf(loose["key"], 4096), ...(Object.fromEntries(sums) as Omit<GroupTotals, "key">) };
}
