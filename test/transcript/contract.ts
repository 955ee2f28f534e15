/** Holds what a run printed to the published shapes. */
import { expect } from "bun:test";
import * as z from "zod/mini";
import { commandSchema, documentSchema, eventSchema, type outcomeSchema } from "../../src/core/schemas.ts";
import type { Place, Result } from "./harness.ts";

export type OutcomeDocument = z.infer<typeof outcomeSchema>;
export type RunDocument = z.infer<typeof documentSchema>;
export type CommandDocument = z.infer<typeof commandSchema>;
export type EventDocument = z.infer<typeof eventSchema>;

const ansi = "\x1b";

/** Holds for every output that goes to no terminal. */
export function expectPlain({ stdout, stderr }: Result): void {
  expect(stdout + stderr).not.toContain(ansi);
  expect(stderr).not.toMatch(/^\s+at .+:\d+/m);
}

function readOne(text: string): unknown {
  expect(text.endsWith("\n")).toBe(true);
  expect(text.slice(0, -1)).not.toContain("\n");
  return JSON.parse(text);
}

/** The document of `--json` of a run. */
export function readOutcome(result: Result): RunDocument {
  expectPlain(result);
  const value = readOne(result.stdout);
  const outcome = z.strictObject(documentSchema.shape).parse(value);
  expect(outcome.code).toBe(result.code);
  expect(outcome.ok).toBe(result.code === 0);
  expect(outcome.error === null).toBe(outcome.ok);
  return outcome;
}

/** The document of `--json` of any other command. */
export function readCommand(result: Result): CommandDocument {
  expectPlain(result);
  const document = z.strictObject(commandSchema.shape).parse(readOne(result.stdout));
  expect(document.code).toBe(result.code);
  expect(document.ok).toBe(result.code === 0);
  expect(document.error === null).toBe(document.ok);
  return document;
}

/** The events of `--jsonl`: numbered without a gap, run.started first, run.finished last. */
export function readEvents(result: Result): readonly EventDocument[] {
  expectPlain(result);
  expect(result.stdout.endsWith("\n")).toBe(true);
  const events = result.stdout
    .slice(0, -1)
    .split("\n")
    .map((line) => eventSchema.parse(JSON.parse(line)));
  expect(events.at(0)?.type).toBe("run.started");
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  expect(events.filter(({ type }) => type === "run.started")).toHaveLength(1);
  expect(new Set(events.map(({ run }) => run)).size).toBe(1);
  expect(events.findIndex(({ type }) => type === "run.finished")).toBe(events.length - 1);
  return events;
}

/** The newest run, played again offline, changes as much and no otherwise. */
export async function expectSameReplay(place: Place, changed: number): Promise<void> {
  const { data } = readCommand(await place.pai(["replay", "--json"]));
  expect(data).toMatchObject({ same: true, changed, difference: null });
}

/** The outcome at the end of `--jsonl`. */
export function readLast(result: Result): OutcomeDocument {
  const last = readEvents(result).at(-1);
  if (last?.type !== "run.finished") throw new Error("the last event is not run.finished");
  expect(last.outcome.code).toBe(result.code);
  return last.outcome;
}
