/** Commands: their time, output, processes and environment. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openClip } from "../../src/core/command/clip.ts";
import { commandEnv, withheldNames } from "../../src/workspace/command/command-env.ts";
import { protectProcess } from "../../src/workspace/command/run-command.ts";
import { runShell } from "../../src/workspace/command/shell.ts";
import { comesTrue, ends } from "../processes.ts";
import { quick, usualEnv } from "./bare.ts";
import { makePlace } from "./tree.ts";

const cwd = () => makePlace().work;
const sh = (command: string, more: Partial<Parameters<typeof runShell>[1]> = {}) =>
  runShell(command, { ...quick, cwd: cwd(), env: usualEnv, ...more });

test("exit code and both outputs in order", async () => {
  const result = await sh("echo one; echo two >&2; echo three; exit 3");
  expect(result).toMatchObject({ exit: 3, timedOut: false, output: "one\ntwo\nthree\n" });
});

test("127 is what the shell says for what cannot be run; a missing folder is null", async () => {
  expect((await sh("no-such-program")).exit).toBe(127);
  expect((await sh("true", { cwd: "/no/such/folder" })).exit).toBe(null);
});

test("no terminal and no input: what asks fails at once", async () => {
  const result = await sh("cat; tty; read answer; echo rc $?; (: </dev/tty) 2>&1");
  expect(result.output).toContain("not a tty\nrc 1\n");
  expect(result.output).toContain("/dev/tty");
});

test("a background child does not keep the command open, and does not survive it", async () => {
  const result = await sh("sleep 1000 & echo $!");
  expect(result.exit).toBe(0);
  expect(await ends(result.output.trim())).toBe(true);
});

test("what left the session and the environment is ended too, and leaves the list of processes", async () => {
  protectProcess();
  const result = await sh(
    "env -i setsid /bin/sh -c 'echo $$ >pid; exec /bin/sleep 1000' & while [ ! -s pid ]; do sleep 0.01; done; cat pid",
  );
  expect(result.exit).toBe(0);
  expect(await ends(result.output.trim())).toBe(true);
  expect(existsSync(`/proc/${result.output.trim()}`)).toBe(false);
});

test("the time limit ends the whole tree, also one that ignores TERM", async () => {
  const run = (timeoutMs: number) => sh("trap '' TERM; sleep 1000 & echo $!; wait; wait", { timeoutMs });
  let result = await run(100);
  // A busy machine may not have begun the shell by then.
  for (let ms = 1000; result.output === "" && ms <= 16_000; ms *= 4) result = await run(ms);
  expect(result).toMatchObject({ exit: null, timedOut: true });
  expect(await ends(result.output.trim())).toBe(true);
});

test("an abort ends it", async () => {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 50);
  const result = await sh("sleep 1000", { signal: abort.signal });
  expect(result).toMatchObject({ exit: null, timedOut: false });
});

test("what runs wild meets a limit before the machine does", async () => {
  const asked = "ulimit -c; ulimit -f; [ $(ulimit -u) -le 8192 ]; echo $?; cat /proc/self/oom_score_adj";
  expect((await sh(asked)).output).toBe("0\n8388608\n0\n500\n");
  expect((await sh("exec 3>/dev/null; truncate -s 9G huge && echo written; rm -f huge")).output).not.toContain(
    "written",
  );
});

test("when pai is killed, so is the command", async () => {
  const folder = cwd();
  const script = `
    import { runShell } from ${JSON.stringify(join(import.meta.dir, "../../src/workspace/command/shell.ts"))};
    await runShell("sleep 1000 & echo $! >pid; sleep 1000", {
      cwd: ${JSON.stringify(folder)}, env: { PATH: "/usr/bin:/bin" }, timeoutMs: 60000, signal: new AbortController().signal });`;
  const pai = Bun.spawn([process.execPath, "-e", script], { stdout: "ignore", stderr: "inherit" });
  const pidFile = join(folder, "pid");
  expect(await comesTrue(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"))).toBe(true);
  const pid = readFileSync(pidFile, "utf8").trim();
  pai.kill("SIGKILL");
  await pai.exited;
  expect(await ends(pid)).toBe(true);
});

test("an output is never cut inside a character", () => {
  for (const size of [7, 8, 9, 10]) {
    const clip = openClip({ head: size, tail: size, errors: 0 });
    const bytes = new TextEncoder().encode("aé€😀".repeat(20));
    for (let at = 0; at < bytes.length; at += 3) clip.add(bytes.subarray(at, at + 3));
    expect(clip.text()).not.toContain("\ufffd");
    expect(clip.text()).toContain("bytes left out");
  }
  const whole = openClip({ head: 5, tail: 5, errors: 0 });
  whole.add(new TextEncoder().encode("a€€€"));
  expect(whole.text()).toBe("a€€€");
});

test("no word is cut in half at the gap: half a secret would be recognised by nobody", () => {
  const secret = "Zx9kQ2mR7tLp4VwA8sNd";
  for (const piece of [`x${secret}\n`, `${secret} `, `{"a":"${secret}"},`, `'${secret}',`]) {
    for (const size of [1000, 1003, 1007, 1013]) {
      const clip = openClip({ head: size, tail: size, errors: 0 });
      clip.add(new TextEncoder().encode(piece.repeat(500)));
      expect(clip.text()).toContain("bytes left out");
      expect(clip.text().replaceAll(secret, "")).not.toMatch(/[A-Z]/);
      expect(clip.text().length).toBeGreaterThan(1.7 * size);
    }
  }
});

const mine = {
  PATH: "bin:/usr/bin:.:/bin",
  HOME: "/home/me",
  LC_ALL: "C.UTF-8",
  GEMINI_API_KEY: "k",
  GITHUB_TOKEN: "k",
  DB_PASSWORD: "k",
  AWS_SECRET_ACCESS_KEY: "k",
  AWS_ACCESS_KEY_ID: "k",
  BUN_OPTIONS: "--preload x",
  CARGO_HOME: "/cargo",
  MY_FLAG: "1",
  KEYBOARD: "de",
  PWD: "/x",
};

test("every command gets an allow-list, toolchains, and what the user names, with nobody logged in", () => {
  const env = commandEnv({ ...mine, https_proxy: "http://me:hunter2hunter2@proxy:3128", GOFLAGS: "-x" }, ["MY_FLAG"]);
  expect(env).toMatchObject({
    PATH: "/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    CARGO_HOME: "/cargo",
    MY_FLAG: "1",
    TERM: "dumb",
    https_proxy: "http://proxy:3128",
    GOFLAGS: "-x",
  });
  const secrets = ["GEMINI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"];
  for (const name of [...secrets, "KEYBOARD", "BUN_OPTIONS"]) expect(env[name]).toBeUndefined();
  expect(commandEnv(mine, ["DB_PASSWORD"])["DB_PASSWORD"]).toBe("k");
});

test.each([
  ["http://user:p%40ss@proxy.example:3128/", "http://proxy.example:3128/"],
  ["user:pass@proxy:3128", "proxy:3128"],
  ["http://user:pa@ss@[::1]:8080", "http://[::1]:8080"],
  ["http://proxy:3128", "http://proxy:3128"],
  ["localhost,.internal", "localhost,.internal"],
])("a proxy is given without its user: %s", (value, given) => {
  expect(commandEnv({ HTTP_PROXY: value }, [])["HTTP_PROXY"]).toBe(given);
});

test("a variable that the command did not get is reported if its output names it", () => {
  const env = { ...mine, DATABASE_URL: "postgres://x" };
  const given = commandEnv(env, []);
  expect(withheldNames(env, given, "KeyError: 'DATABASE_URL' (not DATABASE_URLS), HOME, NEVER_SET")).toEqual([
    "DATABASE_URL",
  ]);
});

test("export, cd, alias, function, umask and limits of one command are unknown to the next", async () => {
  const here = { cwd: cwd() };
  mkdirSync(join(here.cwd, "sub"));
  const show = "pwd; echo [$X]; umask; alias; type f; ulimit -n";
  const before = await sh(show, here);
  await sh("export X=1; cd sub; alias ls=rm; f() { :; }; umask 777; ulimit -n 64", here);
  expect((await sh(show, here)).output).toBe(before.output);
  expect(before.output.split("\n")[0]).toBe(here.cwd);
});

test("what a project or an earlier command wrote for shells to read is not read", async () => {
  const folder = cwd();
  for (const name of [".bashrc", ".profile", ".bash_profile", ".env", "evil.sh"])
    writeFileSync(join(folder, name), "touch ran-by-shell\nexport EVIL=1\n");
  const startup = { HOME: folder, BASH_ENV: "./evil.sh", ENV: "./evil.sh", PROMPT_COMMAND: ". ./evil.sh" };
  const env = commandEnv({ PATH: "/usr/bin:/bin", ...startup }, []);
  const result = await sh("echo [$EVIL]", { cwd: folder, env });
  expect([result.output, existsSync(join(folder, "ran-by-shell"))]).toEqual(["[]\n", false]);
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
  const result = await sh("env -i PATH=$PATH /bin/bash -c 'set -m; sleep 1000 & echo $!; disown'; sleep 0.1");
  expect(await ends(result.output.trim())).toBe(true);
});
