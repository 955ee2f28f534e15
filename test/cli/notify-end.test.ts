/** The notification at the end of a long run; no shell reads any of it. */
import { afterEach, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { notifyEnd } from "../../src/cli/compose/notify-end.ts";
import { failedOutcome, type Outcome } from "../../src/core/outcome.ts";
import { newFolder } from "../grounds.ts";
import { comesTrue } from "../processes.ts";

const folder = newFolder("disk", "notify");
const program = join(folder, "tell");
writeFileSync(
  program,
  `#!/bin/sh\nprintf '%s\\n' "$PWD" "$PAI_STATUS $PAI_CODE $PAI_RUN" "$@" >${folder}/new; mv ${folder}/new ${folder}/told\n`,
);
chmodSync(program, 0o755);
afterEach(() => rmSync(join(folder, "told"), { force: true }));

const ended: Outcome = {
  ...failedOutcome("run", { code: "failed", message: "", hint: null, retry_after: null }),
  ...{ ok: true, status: "verified", code: 0, run: "r1", ms: 42_400, error: null },
};

function tell(
  notify: readonly string[] | null,
  outcome: Partial<Outcome> = {},
  task = "fix it",
  tty = true,
  path = "/usr/bin:/bin",
) {
  const said: string[] = [];
  const warned: string[] = [];
  const base = { settings: { notify }, places: { home: folder }, root: "/nonexistent/project" };
  const context = { env: { PATH: path }, err: (text: string) => said.push(text), tty: { stderr: tty } };
  const notified = { ...ended, ...outcome };
  notifyEnd(context as never, base as never, notified, { task, notify: ({ text }) => warned.push(text) });
  return { said, warned };
}

async function told(): Promise<readonly string[]> {
  const file = join(folder, "told");
  await comesTrue(() => existsSync(file));
  return readFileSync(file, "utf8").trimEnd().split("\n");
}

test("a program gets one more word that says how it ended, whatever the task holds", async () => {
  const task = "say $(touch x) `y` \u001b[2J 'quoted'\nsecond line";
  expect(tell([program, "-u", "two words"], {}, task)).toEqual({ said: [], warned: [] });
  expect(await told()).toEqual([
    ...[folder, "verified 0 r1", "-u", "two words"],
    expect.stringMatching(/^pai: verified after 42 s: say \$\(touch x\) `y` .*\[2J 'quoted'$/),
  ]);
  expect((await told()).join("")).not.toContain("\u001b");
});

test("the bell rings at a terminal only", () => {
  expect(tell(["bell"]).said).toEqual(["\x07"]);
  expect(tell(["bell"], {}, "x", false).said).toEqual([]);
});

test("nothing for a short run, for one that the person stopped, and without the setting", () => {
  const error = { code: "interrupted", message: "", hint: null, retry_after: null } as const;
  for (const outcome of [{ ms: 9_999 }, { error }]) expect(tell(["bell"], outcome).said).toEqual([]);
  expect(tell(null).said).toEqual([]);
});

test("a program that is not there is a warning; one of the project is not there", () => {
  const missing = expect.stringContaining("the setting notify cannot run no-such-program");
  expect(tell(["no-such-program"]).warned).toEqual([missing]);
  expect(tell(["tell"], {}, "x", true, `.:/nonexistent/project/bin`).warned).toHaveLength(1);
});
