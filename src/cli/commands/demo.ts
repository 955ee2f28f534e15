/** `pai demo`: a scenario in a temporary folder, offline. Only the model's replies are recorded. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allActions } from "../../actions/registry.ts";
import { PaiError } from "../../core/error.ts";
import type { Outcome } from "../../core/outcome.ts";
import { runTask } from "../../flows/run-task.ts";
import { singleShot } from "../../flows/single-shot.ts";
import { createReplayModel, parseReplay } from "../../models/open.ts";
import { loadSettings } from "../../store/settings.ts";
import { hang } from "../../ui/layout.ts";
import { openWorkspace } from "../../workspace/open.ts";
import { columnsOf, showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { composeOptions, makeRunId } from "../compose/options.ts";
import { openView } from "../compose/view.ts";
import replies from "./demo-replies.jsonl" with { type: "text" };

const file = "bmi_calculator.py";

const requests: readonly string[] = [
  "Create a simple BMI calculator in Python",
  "Show the project structure",
  `Show ${file} and explain it briefly`,
  'Add the category "Severely Obese" for BMI 35 and above',
];

/** Makes the demo's folder; a bare system may have no /tmp. Throws permission_denied if there is no writable folder. */
function makePlace(cwd: string): string {
  for (const folder of [tmpdir(), "/var/tmp", "/dev/shm", cwd]) {
    try {
      return mkdtempSync(join(folder, "pai-demo-"));
    } catch {}
  }
  throw new PaiError("permission_denied", "no folder for the demo: neither /tmp nor this folder can be written", {
    hint: "set TMPDIR to a folder that can be written",
  });
}

export async function demoCommand(context: Context): Promise<number> {
  const place = makePlace(context.cwd);
  const root = join(place, "project");
  const kept = context.flags.keep === true;
  const aside = context.flags.quiet === true ? () => {} : context.err;
  const out = context.flags.json === true ? aside : context.out;
  try {
    const runs = await play({ ...context, out, flags: { ...context.flags, yes: true } }, place, root);
    const where = kept ? `\nthe demo's files are in ${root}\n` : "";
    return showResult(context, "demo", { folder: kept ? root : null, runs }, `${closing}${where}`);
  } finally {
    if (!kept) rmSync(place, { recursive: true, force: true });
  }
}

async function play(context: Context, place: string, root: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  mkdirSync(root);
  const env = { PATH: context.env["PATH"] };
  const { workspace, history } = await openWorkspace({
    root,
    stateDir: join(place, "state"),
    home: null,
    force: true,
    policy: { allow: [], deny: [] },
    env,
    commandEnv: [],
    umask: process.umask(),
  });
  const places = { home: null, configDir: null, stateDir: null };
  const loaded = loadSettings({ flags: {}, env: {}, places, root: null });
  const model = createReplayModel(parseReplay(replies, "the demo"), "demo");
  const view = await openView(context, context.signal, "run");
  const hasPython = Bun.which("python3", { PATH: env.PATH ?? "" }) !== null;
  const columns = columnsOf(context.env);
  const rule = "=".repeat(Math.min(72, columns));
  const title = (text: string) => context.out(`\n${rule}\n${hang("$ ", text, columns).join("\n")}\n${rule}\n`);
  for (const [at, text] of requests.entries()) {
    const checks = at === 3 && hasPython ? [`python3 -m py_compile ${file}`] : [];
    title(`pai run -y ${checks.length > 0 ? `--check "${checks[0]}" ` : ""}${JSON.stringify(text)}`);
    const ports = {
      id: makeRunId(context.now()),
      model,
      price: () => null,
      workspace,
      actions: allActions,
      decide: view.decide,
      sink: view.sink,
      signal: context.signal,
      now: context.now,
      planCache: null,
    };
    const options = { ...composeOptions(context, loaded, "demo", false), checks };
    const outcome = await runTask(singleShot, { text, history: [], context: null }, options, ports);
    view.finish(outcome, workspace.undoable ? "" : null);
    if (outcome.error !== null) throw new PaiError(outcome.error.code, `the demo failed: ${outcome.error.message}`);
    outcomes.push(outcome);
  }
  title("pai undo -y");
  const { run, changes } = await history.undo(null, { dryRun: false });
  context.out(
    `${hang("took back: ", run.task, columns).join("\n")}\n${changes.map(({ path }) => `restored ${path}\n`).join("")}`,
  );
  return outcomes;
}

const closing =
  "\nThat was a whole task: plan, changes, checks, undo.\nOnly the model's replies were recorded. With your own key:\n\n  pai key set\n  cd your-project && pai\n";
