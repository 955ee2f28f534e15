/** A run on a real folder whose receipt is kept, as the command line keeps it; and its replay. */
import { join } from "node:path";
import { allActions } from "../../src/actions/registry.ts";
import { replayRun } from "../../src/cli/commands/replay.ts";
import type { ProjectMemory } from "../../src/core/memory.ts";
import type { RelPath } from "../../src/core/path.ts";
import type { Decide } from "../../src/core/question.ts";
import { createVeil } from "../../src/core/secrets/veil.ts";
import { runTask } from "../../src/flows/run-task.ts";
import { singleShot } from "../../src/flows/single-shot.ts";
import { openReceipts } from "../../src/store/receipts.ts";
import { recordRun } from "../../src/store/record-receipt.ts";
import { defaults, openHere, type Place, type Setup, scriptModel } from "../flows/scripted.ts";

const policy: Decide = async ({ kind }) =>
  kind === "plan" || kind === "batch"
    ? { accept: true, by: "policy", reason: "-y" }
    : { accept: false, by: "policy", reason: "nobody can be asked", feedback: null };

export async function receiptsOf(place: Place) {
  const { stateFolder } = await openHere(place);
  if (stateFolder === null) throw new Error("nothing is kept");
  return { folder: join(stateFolder, "runs"), ...openReceipts(join(stateFolder, "runs")) };
}

/** Ids as pai makes them, in order. */
export const idOf = (n: number) => `20261121-${String(n).padStart(9, "0")}-0000`;

/** Runs and records a task. Returns its outcome. */
export async function record(place: Place, setup: Setup & { readonly memory?: ProjectMemory }, n = 1) {
  const { workspace } = await openHere(place);
  const receipts = await receiptsOf(place);
  const now = () => new Date("2026-11-21T12:00:00Z");
  const { task: text = "do it", history = [], context = null, mentioned = [], memory = null, planCache = null } = setup;
  const task = { text, history, context, files: mentioned as readonly RelPath[] };
  const options = { ...defaults, ...setup.options };
  const page = receipts.begin(idOf(n), (text) => {
    throw new Error(text);
  });
  const actions = allActions;
  const doors = {
    model: scriptModel(setup.lines, setup.window),
    workspace,
    decide: policy,
    now,
    actions,
    memory,
    planCache,
  };
  const ports = {
    id: idOf(n),
    price: () => null,
    signal: setup.signal ?? new AbortController().signal,
    now,
    ...recordRun(page, { task, options }, { ...doors, veil: createVeil({ part: "k3f9" }) }, () => {}),
  };
  return runTask(setup.flow ?? singleShot, task, options, ports);
}

export async function replay(place: Place, n = 1) {
  const receipt = (await receiptsOf(place)).read(idOf(n));
  return replayRun(receipt, await openHere(place), new AbortController().signal);
}
