/** `pai ask` looks and answers, in any folder; it changes nothing and leaves nothing in the folder. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Answer, openPlace, readTree } from "../harness.ts";
import { planned, talked } from "../replies.ts";

const answer = talked("Nothing is wrong.");

test.concurrent("a question about the machine is answered from the machine, in the home folder, without a trace there", async () => {
  await using place = openPlace([planned(["DIAGNOSE ports"]), answer]);
  mkdirSync(join(place.root, "letters"));
  writeFileSync(join(place.root, "letters/private.txt"), "dear friend");
  writeFileSync(join(place.root, "AGENTS.md"), "dear agent");
  // A process of its own: commands that a test has run in this one have closed what /proc tells of it.
  const code =
    "const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() }); console.log(server.port)";
  await using server = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  const { value } = await server.stdout.getReader().read();
  const port = new TextDecoder().decode(value).trim();
  const before = readTree(place.root);
  const asked = await place.pai(["ask", `who listens on ${port}?`], { env: { HOME: place.root } });
  expect([asked.code, asked.stdout]).toEqual([0, "Nothing is wrong.\n"]);
  expect(place.gemini.requests[1]?.body).toMatch(new RegExp(`127\\.0\\.0\\.1:${port} .*${server.pid} .*bun`));
  for (const { body } of place.gemini.requests) expect(body).not.toMatch(/private\.txt|dear friend|dear agent/);
  expect(place.gemini.requests[0]?.body).toContain("letters/");
  const state = (path: string) => path.startsWith(".local/") || path === ".local";
  expect(readTree(place.root, state)).toEqual(before);
});

test.concurrent("a plan that would change or run something is sent back once, then refused, with the command for it", async () => {
  const work = planned(["WRITE a.txt", "RUN df -h"]);
  await using place = openPlace([work, answer, work, work]);
  expect((await place.pai(["ask", "what fills the disk?"])).code).toBe(0);
  expect(place.gemini.requests[1]?.body).toContain("so not WRITE a.txt, RUN df -h: only look and answer");
  const { code, stderr } = await place.pai(["ask", "what fills the disk?"]);
  expect(code).toBe(12);
  expect(stderr).toContain("pai ask only looks and answers; the plan would change a.txt, run: df -h");
  expect(stderr).toContain("-> pai run does it, after a yes");
  expect(readTree(place.root)).toEqual({});
});

test.concurrent("a question that is typed to pai in the home folder names the line to type instead", async () => {
  await using place = openPlace([]);
  const { code, stderr } = await place.pai(["what is this?"], { env: { HOME: place.root } });
  expect(code).toBe(12);
  expect(stderr).toContain("; to look and change nothing: pai ask 'what is this?'\n");
});

test.concurrent("--show opens a folder outside for looks: masked, closed names closed, and never to be changed", async () => {
  const key = "ghp_9aZ8bY7cX6dW5eV4fU3gT2hS1iR0jQ9kP8lO";
  const steps = (folder: string) =>
    [
      `READ ${folder}/app.log`,
      `READ ${folder}/app.log.1.gz`,
      `READ ${folder}/id_rsa`,
      `READ ${folder}/../other.txt`,
      `TREE ${folder}`,
      `SEARCH fault -> ${folder}`,
    ] as const;
  const answers: Answer[] = [];
  await using place = openPlace(answers);
  const folder = join(place.spare, "logs");
  mkdirSync(folder);
  writeFileSync(join(folder, "app.log"), `all well\nfault with ${key}\n`);
  writeFileSync(join(folder, "app.log.1.gz"), gzipSync("an old fault\n"));
  writeFileSync(join(folder, "id_rsa"), "innermost");
  writeFileSync(join(place.spare, "other.txt"), "elsewhere");
  answers.push(planned(steps(folder)), answer, planned([`WRITE ${folder}/new.txt`]));
  expect((await place.pai(["ask", "--show", folder, "what went wrong?"])).code).toBe(0);
  const [first, second] = place.gemini.requests.map(({ body }) => body);
  expect(first).toContain(`May be read, too: ${folder}`);
  expect(second).toMatch(/fault with <<SECRET_/);
  expect(second).toContain(`${folder}/app.log.1.gz:1:an old fault`);
  expect(second).toContain("├── app.log");
  expect(second).not.toMatch(new RegExp(`innermost|elsewhere|${key}`));
  const { code, stderr } = await place.pai(["run", "-y", "--show", folder, "write it down"]);
  expect(code).toBe(12);
  expect(stderr).toContain("is outside the project: shown, and changed only with --also FOLDER");
});

test.concurrent("--show of a closed file ends before any call and says why", async () => {
  await using place = openPlace([]);
  writeFileSync(join(place.home, "shadow"), "root:x:1\n");
  const { code, stderr } = await place.pai(["ask", "--show", join(place.home, "shadow"), "who has a password?"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("shadow may hold keys or passwords")]);
  expect(place.gemini.requests).toEqual([]);
});

test.concurrent("a file outside that the user names is sent: by --show, and with @", async () => {
  await using place = openPlace([answer, answer, answer]);
  const log = join(place.spare, "app.log");
  writeFileSync(log, Array.from({ length: 40_000 }, (_, n) => (n === 20_000 ? "ERROR disk" : `line ${n}`)).join("\n"));
  await place.pai(["run", "--show", log, "what is it?"]);
  await place.pai(["run", `look at @${log}, please`]);
  for (const { body } of place.gemini.requests) {
    expect(body).toMatch(/line 0\\nline 1\\n.*ERROR disk.*line 39999/);
    expect(body.length).toBeLessThan(120_000);
  }
  const { code, stderr } = await place.pai(["run", "look at @/no/such.log"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("no such file: /no/such.log")]);
});
