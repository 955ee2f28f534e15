/** The original's first example, a BMI calculator, in each way of working: how many calls it takes. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, envOf, runOnce } from "./bench-run.ts";
import type { ScriptedReply } from "./bench-server.ts";

export interface ModeCalls {
  readonly mode: string;
  readonly calls: number;
  /** Calls that are promised for it. */
  readonly promised: number;
}

const scenario = join(import.meta.dir, "../test/scenarios/bmi-run-1-create");

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

/** Calls that really arrived at the server. Throws when a run fails. */
export async function countCalls(bench: Bench): Promise<readonly ModeCalls[]> {
  const task = readFileSync(join(scenario, "task.md"), "utf8").trim();
  const counted: ModeCalls[] = [];
  for (const [mode, replies] of Object.entries(repliesOf())) {
    bench.next += 1;
    const cwd = join(bench.place, `work-${bench.next}`);
    mkdirSync(cwd);
    bench.server.play(replies);
    await runOnce([bench.pai, "run", "-y", "--mode", mode, task], cwd, envOf(bench));
    counted.push({ mode, calls: bench.server.seen.length, promised: replies.length });
  }
  return counted;
}
