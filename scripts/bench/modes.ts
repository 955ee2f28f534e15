/** Counts the calls of each mode for a BMI calculator, the example of the original. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, envOf, runOnce } from "./run.ts";
import type { ScriptedReply } from "./server.ts";

export interface ModeCalls {
  readonly mode: string;
  readonly calls: number;
  /** Number of calls that its plan promises. */
  readonly promised: number;
  /** Tokens sent in each call. */
  readonly sent: readonly Sent[];
}

export interface Sent {
  readonly tokens: number;
  /** Tokens at its start that an earlier request of any run began with too, so that a provider may have cached them. */
  readonly repeated: number;
}

const scenario = join(import.meta.dir, "../../test/scenarios/bmi-run-1-create");

/** Plan and action script of the scenario. */
function readReplies(): readonly [plan: string, script: string] {
  const lines = readFileSync(join(scenario, "replies.jsonl"), "utf8").trim().split("\n");
  const [plan = "", script = ""] = lines.map((line): string => JSON.parse(line).text);
  return [plan, script];
}

function repliesOf(): Readonly<Record<string, readonly ScriptedReply[]>> {
  const [plan, script] = readReplies();
  const [, path = "", content = ""] = /^WRITE::(.+?)::EOT\n([\s\S]*?)END::EOT$/m.exec(script) ?? [];
  const schedule = JSON.stringify({
    mode: "task",
    complexity: "simple",
    reply: "I will write it.",
    steps: [{ title: "Write the calculator", hint: "" }],
    scope: { files_to_create: [path] },
  });
  const verdict = JSON.stringify({ passed: true, quality_score: 9, reasons: [], next_fix: [] });
  return {
    "single-shot": [plan, script],
    "eight-step": [schedule, script, verdict, "Wrote the calculator."],
    "tool-loop": [{ name: "write", args: { path, content } }, "Wrote the calculator."],
  };
}

/** The model's input in the order in which caches compare it; the schema of the answer is last. */
export function renderRequest(body: string): { readonly text: string; readonly schema: string } {
  const { contents, systemInstruction, tools, generationConfig } = JSON.parse(body);
  const parts = [systemInstruction, ...contents].flatMap((content) => content?.parts ?? []);
  const said = parts.map((part: { readonly text?: string }) => part.text ?? JSON.stringify(part)).join("\n");
  const schema: unknown = generationConfig.responseSchema;
  return { text: (tools ? JSON.stringify(tools) : "") + said, schema: schema ? JSON.stringify(schema) : "" };
}

/** Estimates a token as four characters. */
export const tokensIn = (characters: number): number => Math.ceil(characters / 4);

function commonStart(one: string, other: string): number {
  let end = 0;
  while (end < one.length && one[end] === other[end]) end += 1;
  return end;
}

function measureSent(bodies: readonly string[], others: readonly string[]): readonly Sent[] {
  const requests = bodies.map(renderRequest);
  const known = others.map((body) => renderRequest(body).text);
  return requests.map(({ text, schema }, at) => {
    const earlier = [...known, ...requests.slice(0, at).map((request) => request.text)];
    const repeated = Math.max(...earlier.map((other) => commonStart(text, other)));
    return { tokens: tokensIn(text.length + schema.length), repeated: tokensIn(repeated) };
  });
}

/** Counts the calls that arrive at the server. Throws when a run fails. */
export async function countCalls(bench: Bench): Promise<readonly ModeCalls[]> {
  const task = readFileSync(join(scenario, "task.md"), "utf8").trim();
  const counted: ModeCalls[] = [];
  for (const [mode, replies] of Object.entries(repliesOf())) {
    const run = async (request: string) => {
      bench.next += 1;
      const cwd = join(bench.place, `work-${bench.next}`);
      mkdirSync(cwd);
      bench.server.play(replies);
      await runOnce([bench.pai, "run", "-y", "--mode", mode, request], cwd, envOf(bench));
      return bench.server.seen.map(({ body }) => body);
    };
    const others = await run("Write a calculator");
    const bodies = await run(task);
    counted.push({ mode, calls: bodies.length, promised: replies.length, sent: measureSent(bodies, others) });
  }
  return counted;
}
