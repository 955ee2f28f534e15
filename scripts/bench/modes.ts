/** The original's first example, a BMI calculator, in each way of working: how many calls it takes. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, envOf, runOnce } from "./run.ts";
import type { ScriptedReply } from "./server.ts";

export interface ModeCalls {
  readonly mode: string;
  readonly calls: number;
  /** Calls that are promised for it. */
  readonly promised: number;
  /** What each call sends, in tokens. */
  readonly sent: readonly Sent[];
}

export interface Sent {
  readonly tokens: number;
  /** Its first tokens that began an earlier request too, of this run or of another task: a provider's cache has them. */
  readonly repeated: number;
}

const scenario = join(import.meta.dir, "../../test/scenarios/bmi-run-1-create");

/** The plan and the action script of the scenario. */
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

/** What the model reads of a request, in the order in which caches compare it; the schema of the answer comes last. */
export function renderRequest(body: string): { readonly text: string; readonly schema: string } {
  const { contents, systemInstruction, tools, generationConfig } = JSON.parse(body);
  const parts = [systemInstruction, ...contents].flatMap((content) => content?.parts ?? []);
  const said = parts.map((part: { readonly text?: string }) => part.text ?? JSON.stringify(part)).join("\n");
  const schema: unknown = generationConfig.responseSchema;
  return { text: (tools ? JSON.stringify(tools) : "") + said, schema: schema ? JSON.stringify(schema) : "" };
}

/** A token is about four characters. */
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

/** Calls that really arrived at the server. Throws when a run fails. */
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
