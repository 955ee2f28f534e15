/** `pai review`: findings about a diff or files, read-only, a large diff in parts. */
import { orNull, PaiError, toPaiError } from "../../core/error.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Workspace } from "../../core/ports.ts";
import {
  asGraveAs,
  inOrderOfWeight,
  packParts,
  type ReviewFinding,
  type ReviewPart,
  renderFinding,
  reviewSchema,
  splitDiff,
} from "../../core/review.ts";
import { singleShot } from "../../flows/single-shot.ts";
import { pathOutside } from "../../system/lookups.ts";
import { counted } from "../../ui/amount.ts";
import { visible } from "../../ui/sanitize.ts";
import { openGit, readGit } from "../../workspace/git/call-git.ts";
import { showFinding, showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { composeBase } from "../compose/base.ts";
import { type Composed, composeTask } from "../compose/compose-task.ts";
import { composeOptions, limitTime } from "../compose/options.ts";
import { openView, type TerminalView } from "../compose/view.ts";
import { chooseModel } from "../onboard/choose-model.ts";

const partSize = 24_000;

const instruction =
  "Review what is piped in, for faults that a maintainer would want to hear of before it is merged: wrong results, lost data, races, " +
  "unsafe input, missing tests of what can break. No praise, no matters of taste. `line` is a line of the new file. No finding is a " +
  "good answer, too.";

/** The changes since a commit, with new files; closed files are left out. */
async function readChanges(workspace: Workspace, context: Context, base: string): Promise<readonly ReviewPart[]> {
  const place = { root: workspace.root, path: pathOutside(context.env["PATH"], workspace.root), env: context.env };
  const git = openGit(place, context.signal);
  const plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--relative"];
  const diff = await readGit(git, ["diff", ...plain, base, "--"]).catch((thrown: unknown) => {
    throw new PaiError("usage", toPaiError(thrown).message, { hint: "name files: pai review FILE…, or --base REF" });
  });
  const added = (await readGit(git, ["ls-files", "-z", "--others", "--exclude-standard"])).split("\0").filter(Boolean);
  const isOpen = (path: string) => orNull(() => workspace.path(path, "read")) !== null;
  return [...splitDiff(diff).filter(({ path }) => isOpen(path)), ...(await readFiles(workspace, added.filter(isOpen)))];
}

async function readFiles(workspace: Workspace, paths: readonly string[]): Promise<readonly ReviewPart[]> {
  const parts: ReviewPart[] = [];
  for (const path of paths) {
    const blob = await workspace.read(workspace.path(path, "read"));
    if (blob?.kind !== "file") throw new PaiError("usage", `${path} is no file here`);
    if (blob.bytes.includes(0)) continue;
    parts.push({ path, text: `+++ ${path}\n${new TextDecoder().decode(blob.bytes)}\n` });
  }
  return parts;
}

async function reviewPart(part: string, composed: Composed, { sink, decide }: TerminalView, signal: AbortSignal) {
  const task = { text: instruction, history: [], context: part };
  const options = {
    ...composeOptions(composed.base.context, composed.base, "review", false),
    mode: "single-shot",
    asksOnly: true,
    strict: true,
    checks: [],
    outputSchema: JSON.stringify(reviewSchema),
  } as const;
  const outcome = await composed.run(singleShot, { task, options, sink, signal, decide });
  if (outcome.error !== null) throw new PaiError(outcome.error.code, outcome.error.message);
  return outcome;
}

const findingsOf = ({ text }: Outcome): readonly ReviewFinding[] =>
  (JSON.parse(text) as { findings: ReviewFinding[] }).findings;

export async function reviewCommand(given: Context): Promise<number> {
  const called = { ...composeBase(given), asksOnly: true } as const;
  const { context } = called;
  const { base: since, failOn } = context.flags;
  if (since !== undefined && context.words.length > 0) throw new PaiError("usage", "review either --base or files");
  const limited = limitTime(context.signal, called.settings.limits.timeout);
  try {
    const quiet = { ...context, flags: { ...context.flags, quiet: true } };
    const view = await openView(quiet, limited.signal, "run");
    const composed = await composeTask(await chooseModel(context, called, view), view, null);
    const { workspace } = composed.opened;
    const { words } = context;
    const read = words.length > 0 ? readFiles(workspace, words) : readChanges(workspace, context, since ?? "HEAD");
    const parts = packParts(await read, partSize);
    if (context.flags.json !== true && parts.length > 1)
      context.err(`reviewing ${counted(parts.length, "part")}, at most ${counted(2 * parts.length, "call")}\n`);
    const outcomes: Outcome[] = [];
    for (const part of parts) outcomes.push(await reviewPart(part, composed, view, limited.signal));
    await composed.close();
    const findings = inOrderOfWeight(outcomes.flatMap(findingsOf));
    const calls = outcomes.reduce((sum, { calls: { made } }) => sum + made, 0);
    const costs = outcomes.flatMap(({ cost }) => cost ?? []);
    const cost = costs.length < outcomes.length ? null : costs.reduce((sum, each) => sum + each, 0);
    const data = { findings, parts: parts.length, calls, cost };
    const text = findings.length === 0 ? "no findings\n" : findings.map(renderFinding).join("");
    const grave = failOn === undefined ? [] : asGraveAs(findings, failOn);
    if (grave.length === 0) return await showResult(context, "review", data, visible(text));
    if (context.flags.json !== true) context.out(visible(text));
    const why = `${counted(grave.length, "finding")} of severity ${failOn} or above`;
    return await showFinding(context, "review", data, new PaiError("check_failed", why));
  } finally {
    limited.end();
  }
}
