/** Recordings in place of a model: read, played, and what real services once said. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newSecrets } from "../../src/core/secrets/key-shapes.ts";
import { createReplayModel, openModel, parseReplay } from "../../src/models/open.ts";
import { createCallNamer } from "../../src/models/wire/replies.ts";
import { done, folderWith, options, take } from "./loopback.ts";
import { type Recorded, replay, shape } from "./read-recorded.ts";

const call = { id: "c", name: "read", input: { path: "a" } };

describe("replay", () => {
  test("answers call after call from memory, then says that the recording is over", async () => {
    const model = createReplayModel([{ text: "one" }, { calls: [call], usage: { input: 3 } }], "demo");
    expect((await take(model)).events).toEqual([
      { type: "text", text: "one" },
      { ...done, served: "demo" },
    ]);
    const second = await take(model);
    expect(second.events[0]).toEqual({ type: "call", call });
    expect(second.done).toMatchObject({ stop: "calls", usage: { input: 3, cached: 0, output: 0, thought: 0 } });
    const { error } = await take(model);
    expect(error).toMatchObject({
      code: "reply_empty",
      message: "the recording demo has 2 replies and this is call 3",
    });
  });

  test("reads a file by its provider:name, spaces and blank lines included", async () => {
    const text = '\uFEFF{"text":"x","stop":"length"}\r\n\n{"calls":[{"name":"ls"}]}\n';
    const folder = await folderWith("my runs/a.jsonl", text);
    const model = await openModel(options({ id: "replay:my runs/a.jsonl", baseUrl: null, keys: [], folder }));
    expect(model.id).toBe("replay:my runs/a.jsonl");
    expect((await take(model)).done?.stop).toBe("length");
    expect((await take(model)).events[0]).toEqual({ type: "call", call: { id: "call-1", name: "ls", input: {} } });
  });

  test("a recording that is not there, or is a folder, is a usage error that names it", async () => {
    const folder = await folderWith("runs/a.jsonl", "");
    for (const [name, why] of [
      ["b.jsonl", `the recording cannot be read: ${folder}/b.jsonl does not exist`],
      ["runs", `the recording cannot be read: ${folder}/runs is a folder`],
    ]) {
      const opened = openModel(options({ id: `replay:${name}`, baseUrl: null, folder }));
      expect(await opened.catch((thrown) => thrown)).toMatchObject({ code: "usage", message: why });
    }
  });

  test("names the line that is not a recorded reply", () => {
    for (const line of ['{"text":', '{"stop":"over"}', '{"text":3}', '{"calls":[{}]}', "[1]", "3"]) {
      expect(() => parseReplay(`{"text":"x"}\n${line}`, "r.jsonl")).toThrow("r.jsonl:2 is not a recorded reply");
    }
  });

  test("a recorded refusal is a refusal; an aborted signal takes no line", async () => {
    const model = createReplayModel([{ stop: "refused" }, { text: "x" }]);
    expect((await take(model, AbortSignal.abort())).error?.code).toBe("interrupted");
    expect((await take(model)).error?.code).toBe("reply_blocked");
    expect((await take(model)).text).toBe("x");
  });
});

const folder = join(import.meta.dir, "recorded");
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
const read = (name: string): Recorded => shape.parse(JSON.parse(readFileSync(join(folder, name), "utf8")));

test.each(names)("%s", async (name) => {
  const recorded = read(name);
  const { list, error, done: last } = await replay(recorded);
  if (recorded.method === "GET" && recorded.status === 200) expect(list?.models.length).toBeGreaterThan(0);
  else if (recorded.status >= 400) {
    expect(error?.code).not.toBe("internal");
    expect(error?.code ?? "no error").toBe((recorded.expect?.code ?? error?.code ?? "an error") as string);
  } else expect([error, (last?.usage.input ?? 0) > 0]).toEqual([null, true]);
});

test("no recorded body holds a key or the name of an account", () => {
  for (const name of names) {
    const text = readFileSync(join(folder, name), "utf8");
    const accounts = text.match(/\b(?:user|org|proj)[-_][A-Za-z0-9]{10,}/g) ?? [];
    expect([name, ...newSecrets(() => false, text), ...accounts]).toEqual([name]);
  }
});

/** The name that a call gets and whether the native form of its reply stays. */
function named(name: string): readonly [string, boolean] {
  const rename = createCallNamer();
  const event = rename({ type: "call", call: { id: "1", name, input: {} } });
  const last = rename({ ...done, stop: "calls", native: { model: "m", content: {} } });
  return [event.type === "call" ? event.call.name : "", last.type === "done" && last.native !== null];
}

test("a name of plain letters stays, also one that nobody offered; any other is named unknown", () => {
  for (const name of ["read", "str_replace_editor", "web-search", "Fly9"]) expect(named(name)).toEqual([name, true]);
  for (const name of ["", "ls\u001b]52;c;ZXZpbA==\u0007", "a b", "rm\n", "é", "x".repeat(65)])
    expect(named(name)).toEqual(["unknown", false]);
});
