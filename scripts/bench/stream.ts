/** Measures the processor time of a streamed megabyte of reply with each bridge. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as anthropic from "../../test/models/anthropic/anthropic-wire.ts";
import * as chat from "../../test/models/chat/chat-wire.ts";
import * as gemini from "../../test/models/gemini/gemini-wire.ts";
import * as openai from "../../test/models/openai/openai-wire.ts";
import { type Bench, interleave, type Measured, minOf, runOnce, type Sample } from "./run.ts";

const bridges = ["gemini", "openai", "anthropic", "local", "replay"] as const;
type BridgeName = (typeof bridges)[number];

/** Characters of a reply. */
const megabyte = 1_001_000;
/** Characters of the replies: next to none, and a megabyte. */
const lengths = [1000, megabyte];

const prose =
  "The area of a circle grows with the square of its radius, so a small error in π is seen early.\n\n" +
  "- `area(r)` multiplies twice;\n- `volume(r, h)` asks it and multiplies once more, e.g. `volume(2, 10)`.\n\n" +
  "Both are in `src/area.py`; nothing else in the project knows of them, and no test does yet.\n\n";

/** Splits the text into pieces of 20 to 60 characters, as models send them. */
function* cutPieces(length: number): Generator<string> {
  const text = prose.repeat(Math.ceil(length / prose.length)).slice(0, length);
  for (let at = 0, n = 0; at < length; n += 1) {
    const size = 20 + ((n * 17) % 41);
    yield text.slice(at, at + size);
    at += size;
  }
}

const renderers: Readonly<Record<Exclude<BridgeName, "replay">, (pieces: readonly string[]) => string>> = {
  gemini: (pieces) =>
    [...pieces.map((text) => gemini.event(gemini.says(text))), gemini.event(gemini.parts([]))].join(""),
  openai: (pieces) => openai.says(...pieces),
  anthropic: (pieces) => anthropic.says(...pieces),
  local: (pieces) => chat.says(...pieces),
};

const models: Readonly<Record<BridgeName, string>> = {
  gemini: "gemini:gemini-3.5-flash-lite",
  openai: "openai:gpt-5",
  anthropic: "anthropic:claude-haiku-4-5",
  local: "local:bench",
  // Outside the project, where it would be read for the first request too.
  replay: "replay:../reply.jsonl",
};

/** Runs pai once, with a single reply of this many characters. */
async function runStream(bench: Bench, bridge: BridgeName, length: number): Promise<Sample> {
  const pieces = [...cutPieces(length)];
  bench.next += 1;
  const cwd = join(bench.place, `work-${bench.next}`);
  mkdirSync(cwd);
  const recording = `${JSON.stringify({ text: pieces.join("") })}\n`;
  if (bridge === "replay") writeFileSync(join(bench.place, "reply.jsonl"), recording);
  const body = bridge === "replay" ? "" : renderers[bridge](pieces);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.method !== "POST" || /\/api\//.test(request.url)) return new Response("", { status: 404 });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const env = {
    PATH: "/usr/bin:/bin",
    HOME: join(bench.place, "home"),
    GEMINI_API_KEY: "bench-key",
    OPENAI_API_KEY: "bench-key",
    ANTHROPIC_API_KEY: "bench-key",
    PAI_BASE_URL: bridge === "local" ? `${origin}/v1` : origin,
  };
  try {
    const command = [bench.pai, "run", "-y", "--json", "--mode", "tool-loop", "--model", models[bridge], "tell me"];
    return await runOnce(command, cwd, env);
  } finally {
    await server.stop(true);
  }
}

/** What a megabyte of text adds to a run with next to none. */
export async function measureStreams(bench: Bench, rounds: number): Promise<readonly Measured[]> {
  const programs = bridges.flatMap((bridge) => lengths.map((length) => () => runStream(bench, bridge, length)));
  const samples = await interleave(rounds, programs);
  return bridges.map((bridge, at) => {
    const [short = [], long = []] = samples.slice(2 * at).map((all) => all.map(({ cpu }) => cpu));
    const values = long.map((cpu) => cpu - minOf(short));
    return { measure: `${bridge}: a megabyte of reply, processor time`, values, budget: 150, unit: " ms" };
  });
}
