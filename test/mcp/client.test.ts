/** The client of MCP servers against servers that behave as badly as they can. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { maskSecrets } from "../../src/core/secrets/key-shapes.ts";
import { type PinnedTool, readToolCall, renderTools, spellToolCall } from "../../src/core/tool-calls.ts";
import { type CallAnswer, connectServer } from "../../src/mcp/client.ts";

const signal = new AbortController().signal;

async function connect(kind: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../mcp-server.ts"), kind], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const write = (text: string) => {
    child.stdin.write(text);
    void child.stdin.flush();
  };
  const link = { input: child.stdout, write, kill: () => child.kill("SIGKILL") };
  const client = await connectServer({ ...link, explain: async () => "", takeWritten: () => [] }, "1", signal);
  return { client, exited: child.exited };
}

/** The text of an answer, or why there is none. */
const answerOf = (called: Promise<CallAnswer>) =>
  called.then(
    ({ text }) => text,
    (thrown: Error) => thrown.message,
  );

describe("a server", () => {
  const kinds = [
    ["kind", /^add says 42$/],
    ["noise", /^add says 42$/],
    ["ask", /^add says 42$/],
    ["flood", /^(?:flood )+(?:flood)?\n\[\d+ bytes left out\]\n(?:flood )+$/],
    ["die", /the server ended/],
    ["hang", /no answer in/],
  ] as const;
  test.each(kinds)("of the kind %s: its answer, or what went wrong, within its bounds", async (kind, said) => {
    const { client, exited } = await connect(kind);
    expect((await client.tools(signal)).map(({ name }) => name)).toEqual(["add", "read"]);
    const timeoutMs = kind === "hang" ? 200 : 60_000;
    const text = await answerOf(client.call("add", { a: 41 }, { timeoutMs, signal }));
    expect(text).toMatch(said);
    expect(text.length).toBeLessThan(66_000);
    client.close();
    await exited;
  });

  test.each(["secret", "refuse"])(
    "of the kind %s: no beginning of a key is left where its words are cut",
    async (kind) => {
      const { client } = await connect(kind);
      const text = await answerOf(client.call("add", {}, { timeoutMs: 60_000, signal }));
      expect(text).toStartWith("x x x");
      expect(maskSecrets(text)).not.toMatch(/api03|Qm7Z/);
      client.close();
    },
  );

  test("an error that a tool reports is not a success; a call that is aborted ends at once", async () => {
    const { client } = await connect("kind");
    const refused = { ok: false, text: "read says 1" };
    expect(await client.call("read", {}, { timeoutMs: 60_000, signal })).toMatchObject(refused);
    client.close();
    const hanging = await connect("hang");
    const stop = new AbortController();
    const asked = hanging.client.call("add", {}, { timeoutMs: 60_000, signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(asked).rejects.toThrow("stopped");
    hanging.client.close();
    await expect(hanging.client.call("add", {}, { timeoutMs: 500, signal })).rejects.toThrow("was ended");
  });
});

describe("calls as commands", () => {
  test("have one spelling, whatever the order and the blanks of their input", () => {
    const spelled = 'CALL t.add {"a":{"x":1,"y":[2]},"b":null}';
    const other = '{"b": null, "a": {"y": [2], "x": 1}}';
    for (const text of [
      spelled,
      `t.add ${other}`,
      `CALL::${spelled.slice(5)}`,
      `CALL::t.add::${other}`,
      `t.add :: ${other}`,
    ]) {
      expect(spellToolCall(text)).toBe(spelled);
    }
    expect(readToolCall("CALL t.add")).toEqual({ server: "t", tool: "add", input: {} });
    for (const text of ["", "ls -la", "t.add [1]", "t.add {", "../x.y {}", "t. {}", "t.add::x", "t.add::::{}"])
      expect(readToolCall(text)).toBeNull();
  });

  test("at most forty tools and 16 KB are described, first those whose words the task uses; hidden characters are spelled out", () => {
    const tool = (name: string, description: string) => ({ name, description, schema: {} });
    const many = Array.from({ length: 60 }, (_, n) => tool(`tool${n}`, "does something else"));
    const toldOf = (tools: readonly PinnedTool[], task: string) =>
      renderTools(new Map([["t", { tools, looks: [] }]]), task) ?? "";
    const told = toldOf([...many, tool("mail", "sends letters to \u202e people")], "send letters");
    expect(told.split("\n")[1]).toStartWith("t.mail: sends letters");
    expect(told).not.toContain("\u202e");
    expect(told).toContain("(21 more are not shown)");
    const giant = toldOf(
      many.map((each) => ({ ...each, schema: { x: "y".repeat(5000) } })),
      "",
    );
    expect(giant.length).toBeLessThan(18_000);
    expect(renderTools(new Map(), "x")).toBeNull();
    const key = ["sk-ant-api03", "Qm7Zt4Xp9Lw2Vb8N".repeat(5)].join("-");
    const leaky = tool("leaky", `${"x ".repeat(500)}${key}`);
    expect(toldOf([leaky], "")).not.toMatch(/api03|Qm7Z/);
  });
});
