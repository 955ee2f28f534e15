/** The smoke test of real services, tried against servers on loopback: what it asks, judges, records and never shows. */
import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Exchange } from "../../scripts/smoke/recorder.ts";
import { newFolder } from "../grounds.ts";
import { findBinary } from "../transcript/harness.ts";
import { event, parts, says } from "./gemini/gemini-wire.ts";
import { listen } from "./loopback.ts";
import { replay, shape } from "./read-recorded.ts";

const script = join(import.meta.dir, "../../scripts/smoke.ts");
const key = `AQ.${"sMoKe789".repeat(5)}`;
const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20 };
const stream = (chunk: object) =>
  new Response(event({ ...chunk, usageMetadata }), {
    headers: { "content-type": "text/event-stream", "x-ratelimit-remaining": "9", "set-cookie": "session=1" },
  });
const plan = (over: object) =>
  JSON.stringify({ intent: "conversation", reply: "hello", analysis: null, execution_plan: null, ...over });
const step = { step_number: 1, action: "WRITE", target: "hello.txt", purpose: "asked" };
const steps = [{ ...step, depends_on: [], expected_outcome: "" }];
const work = { intent: "task", execution_plan: { steps, checks: [], fallback_strategies: [] } };
const readWord = parts([{ functionCall: { name: "read", args: { path: "word.txt" } } }]);

/** A Gemini that answers each case as a good one does. */
function answer(path: string, body: string): Response {
  if (path.includes("no-such-model")) {
    const message = "models/pai-smoke-no-such-model is not found for API version v1beta";
    const user_id = "user_2x7DNyswjOHVRWDYVMCIROyGjsS";
    return Response.json({ error: { code: 404, message, status: "NOT_FOUND" }, user_id }, { status: 404 });
  }
  if (body.includes("functionDeclarations")) {
    const word = /quokka-\d+/.exec(body)?.[0] ?? "";
    return stream(body.includes("functionResponse") ? says(word, "STOP") : readWord);
  }
  if (body.includes("one thousand")) return stream(says(plan({}).slice(0, 20), "MAX_TOKENS"));
  if (body.includes("hello.txt")) return stream(says(plan(work), "STOP"));
  return stream(says(plan({}), "STOP"));
}

const seen: { readonly path: string; readonly key: string | null }[] = [];
const world = { answer };
const server = listen(async (request) => {
  const { pathname } = new URL(request.url);
  seen.push({ path: pathname, key: request.headers.get("x-goog-api-key") });
  return world.answer(pathname, await request.text());
});
const folder = newFolder("disk", "smoke-test");
afterAll(() => server.stop(true));
const env = { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: server.url.origin };

async function smoke(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = Bun.spawn([process.execPath, script, "--pai", findBinary(), ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

const rowsOf = (name: string): readonly { readonly case: string; readonly result: string }[] =>
  JSON.parse(readFileSync(join(folder, name, "rows.json"), "utf8"));
const readAll = (name: string) =>
  readdirSync(join(folder, name)).map((file) => readFileSync(join(folder, name, file), "utf8"));

test("a service as it should be: five cases, a table, and the bodies of both sides without a key", async () => {
  seen.length = 0;
  const { code, out, err } = await smoke(["--out", "good"], env);
  const rows = rowsOf("good");
  expect([code, err]).toEqual([0, ""]);
  expect(rows.map((row) => row.case)).toEqual(["plan", "tool loop", "refused model", "cut reply", "effort"]);
  for (const { case: name, result } of rows) expect([name, result]).toEqual([name, "ok"]);
  expect(out).toMatch(/^gemini {6}gemini-3\.5-flash-lite {6}plan .* s .* \$0\.000\d {2}ok$/m);
  expect(new Set(seen.map((each) => each.key))).toEqual(new Set([key]));
  const first: Exchange = JSON.parse(readFileSync(join(folder, "good/gemini-plan.1.json"), "utf8"));
  expect(first).toMatchObject({
    provider: "gemini",
    model: "gemini:gemini-3.5-flash-lite",
    path: "/v1beta/models/gemini-3.5-flash-lite:streamGenerateContent?alt=sse",
    request: { contents: expect.any(Array) },
    status: 200,
    headers: { "content-type": "text/event-stream", "x-ratelimit-remaining": "9" },
    response: expect.stringContaining("hello.txt"),
  });
  for (const text of readAll("good"))
    for (const secret of [key, "session=1", "user_2x7DNys"]) expect(text).not.toContain(secret);
});

test("every file of such a run is a test of what pai reads, as it is", async () => {
  const files = readdirSync(join(folder, "good")).filter((name) => name.endsWith(".json") && name !== "rows.json");
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const recorded = shape.parse(JSON.parse(readFileSync(join(folder, "good", file), "utf8")));
    const { error, done } = await replay(recorded);
    const isRefused = recorded.status >= 400;
    expect([file, error?.code ?? null, done !== null]).toEqual([file, isRefused ? "model_unknown" : null, !isRefused]);
  }
});

test("a service with faults: each is named in its row, with exit 1", async () => {
  world.answer = (path, body) => {
    if (path.includes("no-such-model")) return stream(says(plan({}), "STOP"));
    if (body.includes("functionDeclarations")) return stream(says("quokka-0", "STOP"));
    const error = { code: 400, message: `API key not valid: ${key}`, status: "INVALID_ARGUMENT" };
    return Response.json({ error }, { status: 400 });
  };
  const { code, out } = await smoke(["--out", "bad", "gemini:gemini-3.8-flash"], env);
  world.answer = answer;
  expect(code).toBe(1);
  expect(rowsOf("bad").slice(0, 4)).toMatchObject([
    { case: "plan", result: "exit 4 key_rejected" },
    { case: "tool loop", result: "answered without a tool" },
    { case: "refused model", result: "exit 0" },
    { case: "cut reply", result: "exit 4 key_rejected" },
  ]);
  expect(out).toContain("are not as they should be");
  for (const text of [...readAll("bad"), out]) expect(text).not.toContain(key);
});

test.each([
  ["no key at all", [], {}, "no provider has a key in the environment: set one of GEMINI_API_KEY"],
  ["an unknown provider", ["gemni"], { GEMINI_API_KEY: key }, "unknown provider: gemni"],
  ["a provider without a key", ["openai"], { GEMINI_API_KEY: key }, "no key for openai: set OPENAI_API_KEY"],
  ["a provider without a usual model", ["local"], {}, "local has no usual model: name one as local:MODEL"],
  ["no pai to try", ["--pai", "/nowhere/pai"], { GEMINI_API_KEY: key }, "there is no /nowhere/pai"],
  ["an unknown flag", ["--nonsense"], { GEMINI_API_KEY: key }, "--nonsense"],
])("%s is an error that says what to do", async (_which, args, env, message) => {
  const { code, err } = await smoke(args, env);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(err).toContain("usage: bun scripts/smoke.ts");
});
