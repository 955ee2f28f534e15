/** Replies as small models really write them, each with the one reading it has. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../../src/core/json.ts";
import type { StopReason } from "../../../src/core/model.ts";
import { readPlan } from "../../../src/core/plan/parse-plan.ts";
import { readSchedule, readVerdict } from "../../../src/core/plan/parse-schedule.ts";
import { parse } from "./parse-reply.ts";

interface PlanReply {
  readonly id: string;
  readonly kind: "plan" | "schedule" | "verdict" | "json";
  readonly reply: string;
  readonly expect: Readonly<Record<string, unknown>>;
}

interface ScriptReply {
  readonly id: string;
  readonly kind: "script";
  readonly reply: string;
  readonly stop: StopReason;
  readonly expect: {
    readonly actions: readonly object[];
    /** How many of each; absent: not looked at. */
    readonly remarks?: number;
    readonly warnings?: number;
    /** Absent: whole. */
    readonly truncated?: boolean;
    readonly isWhole?: boolean;
  };
}

const file = readFileSync(join(import.meta.dir, "../../data/dirty_replies.jsonl"), "utf8");
const replies = Bun.JSONL.parse(file) as readonly (PlanReply | ScriptReply)[];

/** What a reply comes to: the plan in short, or why it is none. */
function readReply(reply: string): Readonly<Record<string, unknown>> {
  const json = readJson(reply);
  if (!json.ok) return { unusable: json.why };
  const reading = readPlan(json.value);
  if (!reading.ok) return { unusable: reading.why };
  const { intent, reply: said, execution_plan } = reading.value;
  if (intent === "conversation") return { intent, reply: said };
  const steps = (execution_plan?.steps ?? []).map(
    ({ action, target, destination }) => `${action} ${target}${destination === null ? "" : ` -> ${destination}`}`,
  );
  return { intent, reply: said, steps, checks: execution_plan?.checks };
}

const of = (kind: PlanReply["kind"]) => replies.filter((each): each is PlanReply => each.kind === kind);

function expectRead(read: Readonly<Record<string, unknown>>, wanted: PlanReply["expect"]): void {
  if ("unusable" in wanted) expect(String(read["unusable"])).toContain(String(wanted["unusable"]));
  else expect(read).toEqual(wanted);
}

test.each(of("plan"))("a plan: $id", ({ reply, expect: wanted }) => {
  expectRead(readReply(reply), wanted);
});

test.each(of("json"))("JSON: $id", ({ reply, expect: wanted }) => {
  const reading = readJson(reply);
  expectRead(reading.ok ? { value: reading.value } : { unusable: reading.why }, wanted);
});

/** What a schedule comes to: its steps and its scope in short. */
function readScheduleReply(reply: string): Readonly<Record<string, unknown>> {
  const json = readJson(reply);
  const reading = json.ok ? readSchedule(json.value) : json;
  if (!reading.ok) return { unusable: reading.why };
  const { plan, steps } = reading.value;
  return {
    mode: plan.intent === "task" ? "task" : "chat",
    steps: steps.map(({ title, hint }) => (hint === "" ? title : `${title}: ${hint}`)),
    scope: (plan.execution_plan?.steps ?? []).map(({ action, target }) => `${action} ${target}`),
  };
}

test.each(of("schedule"))("a schedule: $id", ({ reply, expect: wanted }) => {
  expectRead(readScheduleReply(reply), wanted);
});

test.each(of("verdict"))("a verdict: $id", ({ reply, expect: wanted }) => {
  const json = readJson(reply);
  expect(json.ok ? readVerdict(json.value) : json.why).toEqual({ ...wanted } as never);
});

test("a verdict in the word of another form is read", () => {
  const said = (status: string) => readVerdict({ status, summary: "The rate is named." })?.passed;
  expect(["SUCCESS", "ok", "FAILURE", "not passed"].map(said)).toEqual([true, true, false, false]);
  // What the word means is not guessed.
  expect(["APPROVED", "see above"].map(said)).toEqual([undefined, undefined]);
});

const scripts = replies.filter((each) => each.kind === "script");
test.each(scripts)("a script: $id", ({ reply, stop, expect: wanted }) => {
  const { actions, remarks, warnings, truncated, isWhole } = parse(reply, {}, stop);
  expect(actions).toMatchObject(wanted.actions as object[]);
  expect(actions.length).toBe(wanted.actions.length);
  expect(truncated).toBe(wanted.truncated ?? false);
  if (wanted.remarks !== undefined) expect(remarks.length).toBe(wanted.remarks);
  if (wanted.warnings !== undefined) expect(warnings.length).toBe(wanted.warnings);
  if (wanted.isWhole !== undefined) expect(isWhole).toBe(wanted.isWhole);
});
