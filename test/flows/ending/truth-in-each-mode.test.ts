/** What a run says of itself is what happened, in each mode: by the disk, the checks and the commands, not by the model. */
import { describe, expect, test } from "bun:test";
import { becameOf } from "../../../src/core/session/became.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import type { RunOptions } from "../../../src/flows/run.ts";
import { singleShot } from "../../../src/flows/single-shot.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { call, calls } from "../loop.ts";
import { finish, modify, planTo, schedule, verdict } from "../plans.ts";
import { type Line, play, type Ran } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const claim = "All tests pass now.";

/** The same work in the words of a mode: an edit of a.txt, perhaps with a command, then the claim, as often as it is asked. */
interface Work {
  /** The text that the edit puts into a.txt; null: nothing is edited. */
  readonly put: string | null;
  readonly command?: string;
  /** How often the model claims success after the first reply. */
  readonly claims?: number;
}

const edited = (put: string | null) => (put === null ? [] : ["a.txt"]);
const ran = (command?: string) => (command === undefined ? [] : [command]);
const edit = (put: string | null) => (put === null ? "" : modify("a.txt", ["one\n", put]));
const run = (command?: string) => (command === undefined ? "" : `RUN::${command}\n`);
const again = (times: number, line: Line): readonly Line[] => Array.from({ length: times }, () => line);

const modes = {
  "single-shot": {
    flow: singleShot,
    lines: ({ put, command, claims = 0 }: Work): readonly Line[] => [
      planTo(...edited(put).map((path) => `MODIFY ${path}`), ...ran(command).map((each) => `RUN ${each}`)),
      edit(put) + run(command) + finish(claim),
      ...again(claims, finish(claim)),
    ],
  },
  "eight-step": {
    flow: eightStep,
    lines: ({ put, command, claims = 0 }: Work): readonly Line[] => [
      schedule({ modify: edited(put), run: ran(command) }),
      edit(put) + run(command) + finish(claim),
      verdict(),
      ...again(claims, finish(claim)),
      claim,
    ],
  },
  "tool-loop": {
    flow: toolLoop,
    lines: ({ put, command, claims = 0 }: Work): readonly Line[] => [
      calls(
        ...edited(put).map((path) => call("edit", { path, edits: [{ search: "one\n", replace: put }] })),
        ...ran(command).map((each) => call("bash", { command: each })),
      ),
      ...again(claims + 1, claim),
    ],
  },
} as const;
type Mode = keyof typeof modes;
const every = Object.keys(modes) as Mode[];

const playIn = (mode: Mode, work: Work, options: Partial<RunOptions>): Promise<Ran> =>
  play({ files, lines: modes[mode].lines(work), flow: modes[mode].flow, options: { mode, ...options } });

describe.each(every)("%s", (mode) => {
  test("a claim of success beside a red check: failed, taken back, and the claim is called one", async () => {
    const ran = await playIn(mode, { put: "two\n", claims: 3 }, { checks: ["grep -q three a.txt"], baseline: false });
    expect([ran.outcome.code, ran.outcome.status, ran.files]).toEqual([9, "failed", files]);
    expect(ran.outcome.text).toMatch(/^rolled back: .*check failed: grep/);
    expect(ran.outcome.text).not.toContain(claim);
    expect(ran.outcome.rolled_back?.paths).toEqual(["a.txt"]);
  });

  test("a check that passed before as well proves only that nothing broke", async () => {
    const ran = await playIn(mode, { put: "two\n" }, { checks: ["test -f a.txt"] });
    expect(ran.outcome).toMatchObject({ code: 0, status: "verified", proves: "no_regression" });
  });

  test("a check that fails first and speaks of the change proves the change", async () => {
    const check = "grep -q two a.txt || { echo a.txt: no two; exit 1; }";
    const ran = await playIn(mode, { put: "two\n" }, { checks: [check] });
    expect(ran.outcome).toMatchObject({ code: 0, status: "verified", proves: "change" });
  });

  test("a check that failed and passes now, and never spoke of the change, may be unsteady", async () => {
    const check = "grep -q two a.txt || { echo 'server: no answer'; exit 1; }";
    const ran = await playIn(mode, { put: "two\n" }, { checks: [check] });
    expect(ran.outcome.checks[0]?.note).toBe("it failed before the work: mended, or unsteady");
    expect(ran.outcome.code).toBe(0);
  });

  test("a green check whose own script the run changed is told as that", async () => {
    const ran = await playIn(mode, { put: "exit 0\n" }, { checks: ["sh ./a.txt || exit 1"] });
    const note = "this run changed a.txt, which the check runs or reads";
    expect(ran.outcome.checks[0]?.note).toBe(note);
    expect(becameOf(ran.outcome)).toContain(`, verified by sh ./a.txt || exit 1 (${note}); `);
  });

  test("a permitted command that fails beside finished work leaves a step undone, and takes nothing back", async () => {
    const ran = await playIn(mode, { put: "two\n", command: "false", claims: 2 }, { allowRun: true });
    expect(ran.outcome.commands?.map(({ command, exit }) => [command, exit])).toContainEqual(["false", 1]);
    expect(ran.files).toEqual({ "a.txt": "two\n" });
    // A loop has no plan that a command could be a step of.
    if (mode !== "tool-loop") expect([ran.outcome.code, ran.outcome.status]).toEqual([15, "partial"]);
  });

  test("a command that nobody permits and a claim that it passed: 12, when nothing was done", async () => {
    const ran = await playIn(mode, { put: null, command: "make test", claims: 2 }, {});
    expect([ran.outcome.code, ran.outcome.status]).toEqual([12, "failed"]);
    expect(ran.outcome.text).not.toContain(claim);
  });
});
