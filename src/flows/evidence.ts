/** What the execution call is shown: every file the plan names, whole, and what the plan's looks found. */

import { mostShown } from "../core/context/shown.ts";
import { fence } from "../core/data-fence.ts";
import { toPaiError } from "../core/error.ts";
import type { Call } from "../core/model.ts";
import type { RelPath } from "../core/path.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { Rights } from "../core/plan/scope.ts";
import { namesPath, rowOf } from "../core/vocabulary.ts";
import { type CallReport, perform } from "./perform.ts";
import type { Run } from "./run.ts";
import { noteHidden, noteSent } from "./sources.ts";

/** True for actions that need no right, FINISH aside: they only look. */
export const isLook = (action: string) => rowOf(action)?.kind === "look";

/** The plan's look steps as calls. */
function looksOf(plan: Plan): readonly Call[] {
  const steps = plan.execution_plan?.steps ?? [];
  return steps.flatMap(({ action, target, destination }, at): Call[] => {
    if (!isLook(action)) return [];
    const under = destination === null ? {} : { path: destination };
    const input = namesPath(action) ? { path: target } : { pattern: target, ...under };
    return [{ id: `look.${at + 1}`, name: action, input }];
  });
}

/** Files the model must have seen before it may change them: named to read, read, modified, overwritten or moved. */
export function filesOf(plan: Plan): readonly string[] {
  const steps = plan.execution_plan?.steps ?? [];
  const touched = steps.filter(({ action }) => rowOf(action)?.shows === true).map(({ target }) => target);
  return [...(plan.analysis?.files_to_read ?? []), ...touched];
}

/** The path that a text names, when the policy lets it be read; null otherwise. */
export function toReadable(run: Run, text: string): RelPath | null {
  try {
    return run.overlay.path(text, "read");
  } catch {
    return null;
  }
}

/**
 * One file as the model is shown it, and noted as seen; null: there is no file. Of a large file it is the beginning, of a
 * binary one its size, of one that cannot be read the reason.
 */
export async function showFile(run: Run, path: RelPath): Promise<string | null> {
  try {
    const blob = await run.overlay.read(path);
    const hidden = run.veiled.hide(path, blob);
    if (blob?.kind !== "file" || hidden?.kind !== "file") return null;
    run.record.bases.add(path);
    if (blob.bytes.subarray(0, 8000).includes(0)) return `${path}: binary, ${blob.bytes.length} bytes`;
    const text = new TextDecoder().decode(hidden.bytes.subarray(0, mostShown));
    noteHidden(run, path, text);
    noteSent(run, [{ path, bytes: blob.bytes, shown: text }]);
    if (blob.bytes.length > mostShown) {
      return fence(
        "file",
        { path, note: `first ${mostShown} of ${blob.bytes.length} bytes; READ::path::from-to shows more` },
        text,
      );
    }
    run.overlay.show(path, blob.bytes);
    return fence("file", { path }, text);
  } catch (thrown) {
    return `${path}: ${toPaiError(thrown).message}`;
  }
}

async function renderLook(run: Run, report: CallReport): Promise<string> {
  const { name, target, ok, text } = report;
  await noteAnswer(run, report);
  return fence("result", { action: `${name} ${target}`.trim(), ok: String(ok) }, text);
}

/** Tells the receipt of the file that the answer of a READ shows. */
export async function noteAnswer(
  run: Run,
  { name, target, ok, text }: Pick<CallReport, "name" | "target" | "ok" | "text">,
): Promise<void> {
  const path = rowOf(name)?.form === "lines" && ok ? toReadable(run, target) : null;
  const blob = path === null ? null : await run.overlay.read(path).catch(() => null);
  if (path !== null && blob?.kind === "file") noteSent(run, [{ path, bytes: blob.bytes, shown: text }]);
}

/** The plan's evidence as one text: the files it names, whole, and the answers of its looks that show anything else. */
export async function collectEvidence(run: Run, plan: Plan, rights: Rights): Promise<string> {
  const looks = looksOf(plan);
  const { reports } = await perform(run, looks, rights);
  const paths = new Set(filesOf(plan).flatMap((text) => toReadable(run, text) ?? []));
  const texts: string[] = [];
  for (const path of paths) {
    const shown = await showFile(run, path);
    if (shown !== null) texts.push(shown);
  }
  const seen = ({ name, target }: CallReport) => {
    const path = rowOf(name)?.form === "lines" ? toReadable(run, target) : null;
    return path !== null && run.overlay.shown(path) !== null;
  };
  for (const report of reports) if (!seen(report)) texts.push(await renderLook(run, report));
  return texts.join("\n\n");
}

/** What a look of a later phase found; a file read without a range is shown whole. */
export async function showLook(run: Run, report: CallReport): Promise<string> {
  const whole = report.ok && rowOf(report.name)?.form === "lines" && !("start_line" in (report.input as object));
  const path = whole ? toReadable(run, report.target) : null;
  return (path === null ? null : await showFile(run, path)) ?? renderLook(run, report);
}
