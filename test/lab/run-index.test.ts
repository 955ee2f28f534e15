/** The table of runs: made from receipts, and from notes where these are gone. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sealFact } from "../../src/core/receipt.ts";
import { readRuns, sumRuns } from "../../src/lab/run-index.ts";
import { noteEnded, noteUndone } from "../../src/store/receipts.ts";
import { newFolder } from "../grounds.ts";

function openState() {
  const path = newFolder("disk", "index");
  const folder = join(path, "project-1");
  mkdirSync(join(folder, "runs"), { recursive: true });
  const started = (id: string) => ({ type: "run.started", v: 1, run: id, at: "2026-11-21T10:00:00.000Z", root: "/p" });
  const finished = (outcome: object) => ({ type: "run.finished", at: "2026-11-21T10:00:02.500Z", outcome });
  return {
    path,
    folder,
    started,
    finished,
    /** A note of a run that ended well. */
    ended: (run: string) => ({ id: run, started: started(run) as never, finished: finished(good) as never }),
    write(id: string, ...facts: readonly object[]) {
      const lines = facts.map((fact) => sealFact(fact as never, "").line);
      writeFileSync(join(folder, "runs", `${id}.jsonl`), lines.join(""));
    },
    totals: () => {
      const [whole] = sumRuns(readRuns(path), "all", null);
      return whole;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

const id = (at: number) => `20261121-${String(100_000_000 + at)}-00ab`;
const good = {
  status: "verified",
  code: 0,
  mode: "single-shot",
  model: { requested: "m" },
  calls: { made: 2, expected: 2, at_most: 3 },
  usage: { input: 100, output: 10 },
  cost: 0.5,
  changes: [{ path: "a", added: 3, deleted: 1 }],
};

test("counts what receipts tell: solved, promises kept, tokens, cost, time", () => {
  using state = openState();
  state.write(id(1), state.started(id(1)), state.finished(good));
  state.write(id(2), state.started(id(2)), state.finished({ ...good, status: "failed", code: 9, cost: null }));
  expect(state.totals()).toMatchObject({
    runs: 2,
    solved: 1,
    verified: 1,
    calls: 4,
    kept: 2,
    tokens: 220,
    cached: 0,
    cost: 0.5,
    unpriced: 1,
    ms: 5000,
    changed: 2,
    undone: 0,
  });
});

test("a run that only made a plan is listed as planned, an answer as answered", () => {
  using state = openState();
  const answered = { ...good, status: "answered", changes: [] };
  state.write(id(1), state.started(id(1)), state.finished(answered));
  state.write(id(2), state.started(id(2)), state.finished({ ...answered, planned: true }));
  expect(readRuns(state.path).map(({ status }) => status)).toEqual(["planned", "answered"]);
});

test("a run that goes on is counted once it has ended", () => {
  using state = openState();
  state.write(id(1), state.started(id(1)));
  expect(state.totals()).toBeUndefined();
  state.write(id(1), state.started(id(1)), state.finished(good));
  expect(state.totals()).toMatchObject({ runs: 1, solved: 1 });
});

test("runs stay counted when their receipts are deleted", () => {
  using state = openState();
  state.write(id(1), state.started(id(1)), state.finished(good));
  noteEnded(state.folder, [state.ended(id(2))]);
  expect(state.totals()).toMatchObject({ runs: 2 });
});

test("a run that was under way when it was first seen is counted by its end, also when its receipt is gone by then", () => {
  using state = openState();
  state.write(id(1));
  state.write(id(2), state.started(id(2)), state.finished(good));
  expect(state.totals()).toMatchObject({ runs: 1 });
  noteUndone(state.folder, id(1), "undo");
  expect(state.totals()).toMatchObject({ runs: 1 });
  rmSync(join(state.folder, "runs", `${id(1)}.jsonl`));
  noteEnded(state.folder, [state.ended(id(1))]);
  expect(state.totals()).toMatchObject({ runs: 2, solved: 2, undone: 1 });
  // A row of a run that has ended is not replaced by a later note.
  noteEnded(state.folder, [{ ...state.ended(id(2)), finished: null }]);
  expect(state.totals()).toMatchObject({ runs: 2, solved: 2 });
});

test("what went along with a request is not kept longer than its receipt", () => {
  using state = openState();
  const started = state.started(id(1));
  const history = [{ request: "an older request", answer: "an older answer" }];
  const told = { ...started, task: { text: "do it", history, context: "a long context" } };
  noteEnded(state.folder, [{ ...state.ended(id(1)), started: told as never }]);
  expect(readFileSync(join(state.folder, "ended.jsonl"), "utf8")).not.toMatch(/older|long context/);
});

test("undone runs are counted, and no longer once they are redone", () => {
  using state = openState();
  state.write(id(1), state.started(id(1)), state.finished(good));
  noteUndone(state.folder, id(1), "undo");
  expect(state.totals()).toMatchObject({ undone: 1 });
  noteUndone(state.folder, id(1), "redo");
  expect(state.totals()).toMatchObject({ undone: 0 });
});

test("receipts that are damaged, foreign or hostile harm nothing", () => {
  using state = openState();
  const runs = join(state.folder, "runs");
  writeFileSync(join(runs, `${id(1)}.jsonl`), "{}\n[]\n");
  writeFileSync(join(runs, `${id(2)}.jsonl`), "\u0000\u0001");
  const odd = state.finished({ status: 4, calls: "many", usage: null });
  state.write(id(3), { type: "run.started", at: 7, task: [], root: {} }, odd);
  const huge = state.finished({ ...good, cost: "1e999", usage: { input: -5, output: 1e308 } });
  state.write(id(4), state.started(id(4)), huge);
  expect(state.totals()).toMatchObject({ runs: 1, cost: 0 });
});
