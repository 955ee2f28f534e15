/** Commands leave nothing to the next one, reach no terminal, and hold neither pai nor its memory. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandEnv } from "../../src/workspace/command/command-env.ts";
import { runShell } from "../../src/workspace/command/shell.ts";
import { ends } from "../processes.ts";
import { makePlace } from "./tree.ts";

function open(): {
  readonly cwd: string;
  readonly sh: (command: string, env?: object, timeoutMs?: number) => Promise<Awaited<ReturnType<typeof runShell>>>;
} {
  const place = makePlace();
  const cwd = place.work;
  const signal = new AbortController().signal;
  const sh = (command: string, env: object = {}, timeoutMs = 10_000) =>
    runShell(command, { cwd, env: { PATH: "/usr/bin:/bin", ...env }, timeoutMs, signal });
  return { cwd, sh };
}

test("export, cd, alias, function, umask and limits of one command are unknown to the next", async () => {
  const { cwd, sh } = open();
  mkdirSync(join(cwd, "sub"));
  const show = "pwd; echo [$X]; umask; alias; type f; ulimit -n";
  const before = await sh(show);
  await sh("export X=1; cd sub; alias ls=rm; f() { :; }; umask 777; ulimit -n 64");
  expect((await sh(show)).output).toBe(before.output);
  expect(before.output.split("\n")[0]).toBe(cwd);
});

test("what a project or an earlier command wrote for shells to read is not read", async () => {
  const { cwd, sh } = open();
  for (const name of [".bashrc", ".profile", ".bash_profile", ".env", "evil.sh"])
    writeFileSync(join(cwd, name), "touch ran-by-shell\nexport EVIL=1\n");
  const startup = { HOME: cwd, BASH_ENV: "./evil.sh", ENV: "./evil.sh", PROMPT_COMMAND: ". ./evil.sh" };
  const env = commandEnv({ PATH: "/usr/bin:/bin", ...startup }, []);
  const result = await sh("echo [$EVIL]", env);
  expect([result.output, existsSync(join(cwd, "ran-by-shell"))]).toEqual(["[]\n", false]);
  expect([env["BASH_ENV"], env["ENV"], env["PROMPT_COMMAND"]]).toEqual([undefined, undefined, undefined]);
});

test("much output costs no memory and keeps its end; endless output is ended, and the result says so", async () => {
  const run = async (command: string): Promise<{ readonly end: string; readonly peak: number }> => {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "much-output.ts"), command], { stdout: "pipe" });
    return JSON.parse(await new Response(child.stdout).text());
  };
  const little = await run("true");
  const much = await run("head -c 40000000 /dev/zero | tr '\\0' x; echo REAL ERROR");
  const endless = await run("yes");
  expect(much.end.endsWith("REAL ERROR\n")).toBe(true);
  expect(endless.end.endsWith("[ended: it wrote more than 64 MiB]")).toBe(true);
  expect(Math.max(much.peak, endless.peak) - little.peak).toBeLessThan(80 * 1024 * 1024);
});

test("what leaves its process group but not its session is ended, whatever its environment", async () => {
  const { cwd, sh } = open();
  await sh("env -i PATH=$PATH /bin/bash -c 'set -m; sleep 1000 & echo $! >pid; disown'; sleep 0.1");
  expect(await ends(readFileSync(join(cwd, "pid"), "utf8").trim())).toBe(true);
});
