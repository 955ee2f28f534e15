/** tool-loop on all four providers, as they stand on the wire: one turn with everything in it, and a compaction. */
import { describe, expect, test } from "bun:test";
import type { Json, Model } from "../../../src/core/model.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { openModel } from "../../../src/models/open.ts";
import * as anthropic from "../../models/anthropic/anthropic-wire.ts";
import * as chat from "../../models/chat/chat-wire.ts";
import * as gemini from "../../models/gemini/gemini-wire.ts";
import { options, type Server, serve, sse } from "../../models/loopback.ts";
import * as openai from "../../models/openai/openai-wire.ts";
import { makeFolder, playIn, type Setup } from "../scripted.ts";

/** One reply: what it says, and what it calls. */
interface Turn {
  readonly says: readonly string[];
  readonly calls?: readonly (readonly [name: string, input: Json])[];
  /** It reaches its limit in the middle of another call. */
  readonly isCut?: boolean;
}

interface Wire {
  readonly id: string;
  readonly path: string;
  /** The stream of a reply; ids of calls begin with `id`. */
  readonly write: (turn: Required<Omit<Turn, "isCut">>, id: string) => string;
  /** The stream of a reply that reached its limit in the middle of a call of this id. */
  readonly cut: (says: readonly string[], id: string) => string;
}

const half = '{"path":"b.txt","content":"b';

const wires: readonly Wire[] = [
  {
    id: "gemini:gemini-2.5-flash-lite",
    path: "",
    write: ({ says, calls }) => {
      const parts = calls.map(([name, args]) => ({ functionCall: { name, args } }));
      const said = says.map((text) => gemini.event(gemini.says(text))).join("");
      return said + gemini.event(gemini.parts(parts.length > 0 ? parts : [{ text: "" }]));
    },
    cut: (says) => {
      const parts = says.map((text) => ({ text }));
      return gemini.event(gemini.parts(parts, "MAX_TOKENS"));
    },
  },
  {
    id: "openai:gpt-5",
    path: "/v1",
    write: ({ says, calls }, id) => {
      const made = calls.map(([name, input], at) => openai.call(name, JSON.stringify(input), `${id}_${at}`));
      return openai.reply([...(says.length > 0 ? [openai.message(says.join(""))] : []), ...made], { pieces: says });
    },
    cut: (says, id) => {
      const made = { ...openai.call("write", half, id), status: "incomplete" };
      const last = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
      return openai.reply([...(says.length > 0 ? [openai.message(says.join(""))] : []), made], { pieces: says, last });
    },
  },
  {
    id: "anthropic:claude-haiku-4-5",
    path: "",
    write: ({ says, calls }, id) => {
      const made = calls.map(([name, input], at) =>
        anthropic.callBlock(at + 1, name, [JSON.stringify(input)], `${id}_${at}`),
      );
      const end = anthropic.end(calls.length > 0 ? "tool_use" : "end_turn");
      return anthropic.begin() + anthropic.textBlock(0, says) + made.join("") + end;
    },
    cut: (says, id) =>
      anthropic.begin() +
      (says.length > 0 ? anthropic.textBlock(0, says) : "") +
      anthropic.callBlock(1, "write", [half], id) +
      anthropic.end("max_tokens"),
  },
  {
    id: "local:qwen3-8b",
    path: "/v1",
    write: ({ says, calls }, id) => {
      const made = calls.map(([name, input], index) => {
        const written = { name, arguments: JSON.stringify(input) };
        return chat.delta({ tool_calls: [{ index, id: `${id}_${index}`, type: "function", function: written }] });
      });
      const said = says.map((content) => chat.delta({ content })).join("");
      return said + made.join("") + chat.delta({}, calls.length > 0 ? "tool_calls" : "stop") + chat.done;
    },
    cut: (says, id) => {
      const made = { index: 0, id, type: "function", function: { name: "write", arguments: half } };
      const said = says.map((content) => chat.delta({ content })).join("");
      return said + chat.delta({ tool_calls: [made] }) + chat.delta({}, "length") + chat.done;
    },
  },
];

const write = (path: string, content: string) => ["write", { path, content }] as const;

describe.each(wires)("$id", ({ id, path, write: toWire, cut }) => {
  /** Plays the turns to a run; the server with what it was asked, and the run. */
  async function playWire(turns: readonly Turn[], { files = {}, window = 100_000, ...rest }: Partial<Setup>) {
    const server: Server = serve((n) => {
      const { says, calls = [], isCut = false } = turns[n] ?? { says: ["no turn is left"] };
      return sse([isCut ? cut(says, `call${n}_cut`) : toWire({ says, calls }, `call${n}`)]);
    });
    const place = makeFolder(files);
    try {
      const opened = await openModel(options({ id, baseUrl: `${server.origin}${path}` }));
      const model: Model = { ...opened, window, maxOutputTokens: 2000 };
      const setup: Setup = { lines: [], flow: toolLoop, model, answers: "yes", ...rest };
      const ran = await playIn(place, { ...setup, options: { mode: "tool-loop", interactive: true, ...rest.options } });
      return { ran, asked: server.seen.map(({ body }) => JSON.stringify(body)) };
    } finally {
      await server.stop();
    }
  }

  test("streams, looks at once, decides a batch once, hears a refusal, keeps tasks", async () => {
    const looks = [["read", { path: "a.txt" }] as const, ["grep", { pattern: "two" }] as const];
    const tasks = [{ content: "Copy it", description: "to b.txt" }];
    const turns: Turn[] = [
      { says: ["Look", "ing."], calls: looks },
      { says: [], calls: [["write_tasks", { tasks }], write("b.txt", "b"), write("d.txt", "d")] },
      { says: ["Then c."], calls: [write("c.txt", "c"), ["update_task", { id: 1, status: "completed" }]] },
      { says: ["All ", "done."] },
    ];
    const { ran, asked } = await playWire(turns, {
      files: { "a.txt": "one\ntwo\n" },
      answers: [{ feedback: "name it c.txt" }, "yes"],
    });
    expect(ran.outcome).toMatchObject({ status: "unverified", text: "All done.", calls: { made: 4 } });
    expect(ran.files).toEqual({ "a.txt": "one\ntwo\n", "c.txt": "c" });
    expect(ran.questions.map(({ text }) => text)).toEqual([
      "Apply these changes?\ncreate b.txt\ncreate d.txt",
      "Apply these changes?\ncreate c.txt",
    ]);
    const said = ran.events.flatMap((event) =>
      event.type === "model.delta" ? [event.text] : event.type === "model.finished" ? ["|"] : [],
    );
    expect(said.join("")).toBe("Looking.||Then c.|All done.|");
    expect(asked[1]).toMatch(/1 one[\s\S]*a\.txt:2:two/);
    expect(asked[2]).toContain("name it c.txt");
    expect(asked[2]).toContain("[ ] 1. Copy it");
    expect(asked[3]).toContain("[x] 1. Copy it");
  });

  test("a reply that was cut in a call is gone on with: nothing of it is done, and no half of a call goes back", async () => {
    const turns: Turn[] = [
      { says: ["I write b."], isCut: true },
      { says: [], isCut: true },
      { says: ["Smaller."], calls: [write("b.txt", "b")] },
      { says: ["Done."] },
    ];
    const { ran, asked } = await playWire(turns, {});
    expect(ran.outcome).toMatchObject({ status: "unverified", text: "Done.", calls: { made: 4 } });
    expect(ran.files).toEqual({ "b.txt": "b" });
    expect(asked[1]).toContain("I write b.");
    for (const body of asked.slice(1, 3)) {
      expect(body).toContain("was cut");
      expect(body).not.toContain("_cut");
    }
    expect(ran.notices("reply_cut").length).toBe(2);
  });
});
