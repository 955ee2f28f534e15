/** `pai apply`: carries a saved plan out on files that are still as they were. */
import { resolve } from "node:path";
import { PaiError } from "../core/error.ts";
import { followPlan } from "../flows/single-shot.ts";
import { createReplayModel } from "../models/replay.ts";
import type { Context } from "./command.ts";
import { changesOf, readPlanFile, requireBase } from "./plan-file.ts";
import { doTask } from "./task.ts";

async function readText(path: string): Promise<string> {
  try {
    return await Bun.file(path).text();
  } catch (cause) {
    throw new PaiError("usage", `the plan file cannot be read: ${path}`, { cause });
  }
}

export async function applyCommand(context: Context): Promise<number> {
  const [name, ...more] = context.words;
  if (name === undefined || more.length > 0)
    throw new PaiError("usage", "pai apply takes one plan file", { hint: "pai apply -y plan.json" });
  const saved = readPlanFile(await readText(resolve(context.cwd, name)), name);
  const only = Array.isArray(context.flags["only"]) ? [context.flags["only"] as readonly string[]] : [];
  const typed = Array.isArray(context.flags["check"]) ? (context.flags["check"] as readonly string[]) : [];
  return doTask(context, {
    command: "apply",
    model: saved.file.changes === null ? null : createReplayModel([], "saved edits"),
    task: { text: saved.task, history: [], context: null },
    options: {
      only: saved.only.length > 0 ? [saved.only, ...only] : only,
      checks: [...new Set([...saved.checks, ...typed])],
    },
    flow: async (run) => {
      const { workspace } = run.ports;
      await requireBase(workspace, saved);
      await followPlan(saved.plan, await changesOf(workspace, saved))(run);
    },
  });
}
