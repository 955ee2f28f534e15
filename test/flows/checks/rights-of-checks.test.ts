/** With what rights the user's checks run: in the sandbox, and outside of it only after the user said so. */
import { expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { needs, rootUser } from "../../needs.ts";
import { copies } from "../../workspace/sandbox/here.ts";
import { finish, modify, planTo } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.txt": "one\n" };
const lines = [planTo("MODIFY a.txt"), modify("a.txt", ["one\n", "two\n"]) + finish()];
const outside = `/var/pai-rights-${process.pid}`;
/** Passes wherever it may write outside of the project. */
const walled = `touch ${outside}`;
/** Meets the wall only once the work is done. */
const later = `grep -q one a.txt || touch ${outside}`;
const rights = { weakest: null, byProject: false, inSystem: false } as const;
const wasOutside = () => {
  const was = existsSync(outside);
  rmSync(outside, { force: true });
  return was;
};

needs(copies, rootUser).describe("a check that only the sandbox keeps from passing", () => {
  test("ends a headless run before the first call, and names the flag", async () => {
    const { outcome } = await play({ files, lines: [], options: { checks: [walled] } });
    expect(outcome).toMatchObject({ code: 12, calls: { made: 0 }, error: { code: "command_refused" } });
    expect(outcome.error?.message).toContain(outside);
    expect(outcome.error?.hint).toContain("--check-sandbox off");
    expect(wasOutside()).toBe(false);
  });

  test("is told with the files that it names and commands do not see, to the person and to the model", async () => {
    const check = "sh check.sh";
    const hidden = {
      "env/dev.env": "LEVEL=debug\n",
      "check.sh": "grep -q LEVEL env/dev.env || { echo env/dev.env: no LEVEL; exit 1; }\n",
    };
    const ran = await play({
      files: { ...files, ...hidden },
      lines,
      options: { checks: [check], planOnly: true },
    });
    const told = "names env/dev.env, which commands do not see";
    expect(ran.notices("file_hidden")).toEqual([
      `${check} fails and ${told}; to show it to them: --allow-read env/dev.env`,
    ]);
    expect(ran.asked(1)).toContain(`note="fails; it ${told}"`);
  });

  test("is asked about once at a terminal, and then decides", async () => {
    const ran = await play({ files, lines, options: { checks: [walled], interactive: true }, answers: "yes" });
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["command", "plan"]);
    expect(ran.questions[0]?.text).toContain("without the sandbox?");
    expect([ran.outcome.status, wasOutside()]).toEqual(["verified", true]);
    expect(ran.asked(1)).toContain('note="passes"');
  });

  test("says nothing about the work after a no, and is not asked about again", async () => {
    const options = { checks: [walled], interactive: true };
    const ran = await play({ files, lines, options, answers: ["no", "yes"] });
    expect(ran.outcome).toMatchObject({ code: 0, status: "unverified", checks: [{ passed: null }] });
    expect([ran.files["a.txt"], wasOutside()]).toEqual(["two\n", false]);
    expect(ran.asked(1)).toContain("perhaps the sandbox");
    expect(ran.asked(1)).not.toContain("fails");
  });

  test("does not take back a change when it passed before: headless it is kept, and proved by nothing", async () => {
    const { outcome, files: left } = await play({ files, lines, options: { checks: [later] } });
    expect(outcome).toMatchObject({ code: 0, status: "unverified", checks: [{ passed: null }] });
    expect(outcome.checks[0]?.note).toContain("--check-sandbox off");
    expect([left["a.txt"], wasOutside()]).toEqual(["two\n", false]);
    const asked = await play({ files, lines, options: { checks: [later], interactive: true }, answers: "yes" });
    expect([asked.outcome.status, wasOutside()]).toEqual(["verified", true]);
  });

  test("runs with the user's rights where these were given, but never when nothing may stay", async () => {
    const checkRights = { ...rights, weakest: "off" } as const;
    const free = await play({ files, lines, options: { checks: [walled], checkRights } });
    expect([free.outcome.status, wasOutside()]).toEqual(["verified", true]);
    const dry = await play({ files, lines, options: { checks: [walled], checkRights, dryRun: true } });
    expect([dry.outcome.code, wasOutside()]).toEqual([0, false]);
    const only = await play({ files, lines, options: { checks: [walled], checkRights, planOnly: true } });
    expect([only.outcome.code, wasOutside()]).toEqual([0, false]);
  });

  test("stays inside when a file of the project sets it, whoever sits there", async () => {
    const options = { checks: [walled], interactive: true, checkRights: { ...rights, byProject: true } };
    const ran = await play({ files, lines, options, answers: "yes" });
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan"]);
    expect([ran.outcome.status, wasOutside()]).toEqual(["unverified", false]);
    const note = ran.outcome.checks[0]?.note;
    expect(note).toContain("a check of pai.json stays inside; typed as --check it may run with your rights");
    expect(note).not.toContain("--check-sandbox off");
  });

  test("runs with the user's rights in a folder of the system, unless its program may be changed", async () => {
    const checkRights = { ...rights, inSystem: true };
    const own = await play({ files, lines, options: { checks: [walled], checkRights } });
    expect([own.outcome.status, wasOutside()]).toEqual(["verified", true]);
    expect(own.eventsOf("notice").map(({ code }) => code)).toContain("check_rights");
    for (const check of ["sh c.sh", "env sh ./c.sh", `true; sh "c.sh"`]) {
      const all = { ...files, "c.sh": `#!/bin/sh\n${walled}\n` };
      const held = await play({ files: all, lines: [], options: { checks: [check], checkRights } });
      expect([check, held.outcome.code, wasOutside()]).toEqual([check, 12, false]);
    }
  });
});

needs(copies, rootUser).describe("a command of the model that met a wall", () => {
  const run = (command: string, steps: readonly string[] = []) =>
    [planTo(...steps, `RUN ${command}`), `RUN::${command}\n${finish()}`] as const;

  test("may run once outside, shown word by word, after its own yes", async () => {
    const ran = await play({ files, lines: run(walled), options: { interactive: true }, answers: "yes" });
    const asked = ran.questions.filter(({ text }) => text.includes("without the sandbox?"));
    expect(asked.map(({ text }) => text.includes(`│ ${walled}`))).toEqual([true]);
    expect([ran.outcome.code, wasOutside()]).toEqual([0, true]);
  });

  test("that commands do not see the files that it names is told with its result", async () => {
    const lines = run("grep -c LEVEL env/dev.env");
    const ran = await play({
      files: { "env/dev.env": "LEVEL=1\n" },
      lines,
      options: { interactive: true },
      answers: "yes",
    });
    expect(ran.asked(2)).toContain("; it names env/dev.env, which commands do not see (in a sandbox: ");
  });

  test("never without a person", async () => {
    await play({ files, lines: [...run(walled), finish(), finish()], options: { allowRun: true } });
    expect(wasOutside()).toBe(false);
  });

  test("never when it names a file that this run changed", async () => {
    const command = `touch ${outside} && cat a.txt`;
    const both = [
      planTo("MODIFY a.txt", `RUN ${command}`),
      `${modify("a.txt", ["one\n", "two\n"])}RUN::${command}\n${finish()}`,
      finish(),
      finish(),
    ];
    const ran = await play({ files, lines: both, options: { interactive: true }, answers: "yes" });
    expect(ran.questions.filter(({ text }) => text.includes("without the sandbox?"))).toEqual([]);
    expect(wasOutside()).toBe(false);
  });
});
