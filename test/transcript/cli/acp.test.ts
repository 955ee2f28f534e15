/** `pai acp` as a process: what broken clients send, a pipe that ends, and acpx, a client that others wrote. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { finish, modify, plan } from "../../flows/plans.ts";
import { needs } from "../../needs.ts";
import { findBinary, openPlace, type Place } from "../harness.ts";

const requestOf = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params });
const initialize = requestOf(0, "initialize", { protocolVersion: 1, clientCapabilities: {} });

/** A client that is no more than a pipe. */
function openPipe(place: Place) {
  const asking = Bun.spawn([findBinary(), "acp"], {
    cwd: place.root,
    env: place.env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  let heard = "";
  const hearing = (async () => {
    const text = new TextDecoder();
    for await (const bytes of asking.stdout) heard += text.decode(bytes, { stream: true });
  })();
  const answers = (): readonly Answer[] =>
    heard
      .slice(0, heard.lastIndexOf("\n") + 1)
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const send = (...lines: readonly (string | object)[]) => {
    for (const line of lines) asking.stdin.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
    return asking.stdin.flush();
  };
  const until = async (found: (answer: Answer) => boolean): Promise<Answer> => {
    for (;;) {
      const answer = answers().find(found);
      if (answer !== undefined) return answer;
      await Bun.sleep(10);
    }
  };
  return {
    pid: asking.pid,
    ...{ answers, send, until },
    /** The answer to a request. */
    async ask(request: ReturnType<typeof requestOf>): Promise<Answer> {
      await send(request);
      return until(({ id }) => id === request.id);
    },
    /** Closes the pipe; the exit code. */
    async end() {
      await asking.stdin.end();
      const code = await asking.exited;
      await hearing;
      return code;
    },
  };
}

interface Answer {
  readonly jsonrpc: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly protocolVersion?: number; readonly sessionId?: string };
  readonly error?: { readonly code: number; readonly message: string };
}

test.concurrent("whatever a client sends, standard output holds protocol lines only and the process ends calmly", async () => {
  await using place = openPlace();
  const garbage = fc
    .sample(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.constantFrom(
          "{",
          "[]",
          "null",
          '{"id":1}',
          '{"jsonrpc":"1.0","id":3,"method":"initialize"}',
          "\u0000",
          "\uFEFF{}",
        ),
        fc
          .record({
            jsonrpc: fc.constant("2.0"),
            id: fc.anything(),
            method: fc.constantFrom("session/prompt", "session/load", "session/new", "x"),
            params: fc.anything(),
          })
          .map(
            (value) => JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "",
          ),
      ),
      300,
    )
    .map((line) => line.replace(/[\r\n]/g, " "));
  const pipe = openPipe(place);
  await pipe.ask(initialize);
  await pipe.send(...garbage);
  expect((await pipe.ask({ ...initialize, id: 99, method: "nope" })).error?.code).toBe(-32601);
  expect(await pipe.end()).toBe(0);
  for (const answer of pipe.answers()) expect(answer.jsonrpc).toBe("2.0");
});

test.concurrent("a client of a later protocol is told version 1; a request before initialize is refused", async () => {
  await using place = openPlace();
  const pipe = openPipe(place);
  const early = requestOf(5, "session/new", { cwd: place.root, mcpServers: [] });
  expect((await pipe.ask(early)).error).toBeDefined();
  const later = { ...initialize, params: { protocolVersion: 7, clientCapabilities: {} } };
  expect((await pipe.ask(later)).result?.protocolVersion).toBe(1);
  expect(await pipe.end()).toBe(0);
});

test.concurrent("a message of 10 MB is refused, and a pipe that ends during a turn leaves the files as they were", async () => {
  const answers = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["one\n", "1\n"]) + finish()];
  await using place = openPlace(
    answers.map((text) => ({ text })),
    { "a.txt": "one\n" },
  );
  const cwd = place.root;
  const pipe = openPipe(place);
  await pipe.ask(initialize);
  const sessionId = (await pipe.ask(requestOf(1, "session/new", { cwd, mcpServers: [] }))).result?.sessionId;
  const saying = (id: number, text: string) =>
    requestOf(id, "session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  const long = await pipe.ask(saying(2, `look at this ${"word ".repeat(2_000_000)}`));
  expect(long.error?.message).toContain("longer than 8 MiB");
  await pipe.send(saying(3, "count a.txt"));
  // The question about the change is never answered: the editor has gone.
  await pipe.until(({ method }) => method === "session/request_permission");
  expect(await pipe.end()).toBe(0);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n");
  expect(readdirSync(cwd).filter((name) => name !== ".pai_history")).toEqual(["a.txt"]);
});

const acpx = process.env["PAI_ACPX"] ?? Bun.which("acpx");

needs({ name: "acpx", isHere: acpx !== null }).test("acpx: a task approved, one denied, and a mode", async () => {
  const [first, second] = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["one\n", "1\n"]) + finish("Counted.")];
  const answers = [first, second, first, second, first].map((text) => ({ text }));
  await using place = openPlace(answers, { "a.txt": "one\n" });
  const run = async (...words: readonly string[]) => {
    const asking = Bun.spawn([acpx ?? "", "--cwd", place.root, "--agent", `${findBinary()} acp`, ...words], {
      env: { ...place.env, PATH: process.env["PATH"] ?? "" },
      stdout: "pipe",
      stderr: "pipe",
    });
    return { stdout: await asking.stdout.text(), code: await asking.exited };
  };
  const denied = await run("--deny-all", "exec", "count a.txt");
  expect([denied.code, readFileSync(join(place.root, "a.txt"), "utf8")]).toEqual([5, "one\n"]);
  const approved = await run("--approve-all", "exec", "count a.txt");
  expect(approved.stdout).toContain("Counted.");
  expect([approved.code, readFileSync(join(place.root, "a.txt"), "utf8")]).toEqual([0, "1\n"]);
  writeFileSync(join(place.root, "a.txt"), "one\n");
  await run("sessions", "new", "--name", "w");
  await run("set-mode", "plan", "-s", "w");
  const planned = await run("--approve-all", "prompt", "-s", "w", "count a.txt");
  expect(planned.stdout).toContain("Expected 2 model calls");
  expect(readFileSync(join(place.root, "a.txt"), "utf8")).toBe("one\n");
  await run("sessions", "close", "w");
});

test.concurrent("sessions that are closed leave no descriptor open", async () => {
  await using place = openPlace();
  const pipe = openPipe(place);
  await pipe.ask(initialize);
  const open = () => readdirSync(`/proc/${pipe.pid}/fd`).length;
  const turn = async (id: number) => {
    const { result } = await pipe.ask(requestOf(id, "session/new", { cwd: place.root, mcpServers: [] }));
    await pipe.ask(requestOf(id + 1, "session/close", { sessionId: result?.sessionId }));
    await pipe.ask(requestOf(id + 2, "session/list", { cwd: place.root }));
  };
  for (let at = 0; at < 3; at += 1) await turn(100 + 3 * at);
  await Bun.sleep(200);
  const before = open();
  for (let at = 3; at < 30; at += 1) await turn(100 + 3 * at);
  await Bun.sleep(200);
  expect(open() - before).toBeLessThan(5);
  expect(await pipe.end()).toBe(0);
});
