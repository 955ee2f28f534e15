/** The dialogue of a run with its model: whether it can go on, and what has changed since it was told. */

import type { Blob } from "../core/change.ts";
import { linesOf } from "../core/context/blocks.ts";
import { fence } from "../core/data-fence.ts";
import { knownAfterDiff, startAnew } from "../core/dialogue.ts";
import { renderChanges } from "../core/diff.ts";
import { type Job, partOf, sizeOf } from "../core/model.ts";
import type { RelPath } from "../core/path.ts";
import type { Run } from "./run.ts";

/** Share of the window that a dialogue may fill; beyond it the next message stands alone. */
const fullShare = 1 / 2;

/**
 * Starts anew unless the dialogue can go on: it was held with the model of this job and with this prompt, and a message
 * of `added` characters leaves it within half of the window.
 */
export function continueOrStart(run: Run, system: string, job: Job, added: number): void {
  const { dialogue, ledger, calling } = run;
  const model = partOf(calling.model, job);
  const head = `${model.id}\n${model.address ?? ""}\n${system}`;
  const size = dialogue.messages.reduce((sum, message) => sum + sizeOf(message), system.length + added);
  const goesOn = dialogue.messages.length > 0 && dialogue.head === head;
  // Before the provider has counted anything, and where it counts too little, a token is four characters.
  const tokens = Math.max(ledger.estimate(size), size / 4);
  if (!goesOn || tokens > model.window * fullShare) startAnew(dialogue);
  dialogue.head = head;
}

/** Characters of all diffs in one message. */
const maxOfDiffs = 12_000;
/** How many deleted lines in a row a diff shows: the model knows them, or no longer needs them. */
const maxDeleted = 6;

/** The diff with long runs of deleted lines replaced by their number. */
function foldDeleted(diff: string): string {
  const folded: string[] = [];
  let run: string[] = [];
  const flush = () => {
    folded.push(...run.slice(0, maxDeleted));
    if (run.length > maxDeleted) folded.push(`[… ${run.length - maxDeleted} more deleted lines]`);
    run = [];
  };
  for (const line of diff.split("\n")) {
    if (line.startsWith("-") && !line.startsWith("--- ")) run.push(line);
    else {
      flush();
      folded.push(line);
    }
  }
  flush();
  return folded.join("\n");
}

const fileOf = (text: string): Blob => ({ kind: "file", bytes: new TextEncoder().encode(text), mode: 0o644 });

/** The text of a file now, as the model may see it; null: there is no such file, or it cannot be read. */
export async function textNow(run: Run, path: RelPath): Promise<string | null> {
  const blob = run.veiled.hide(path, await run.overlay.read(path).catch(() => null));
  return blob?.kind === "file" ? new TextDecoder().decode(blob.bytes) : null;
}

/**
 * What has changed since it was told, as one diff; "": nothing. A file whose change is too long for it is no longer
 * known, and is shown anew when it is needed.
 */
export async function tellChanged(run: Run): Promise<string> {
  const { files } = run.dialogue;
  const diffs: string[] = [];
  const unshown: string[] = [];
  let room = maxOfDiffs;
  for (const [path, told] of files) {
    const now = await textNow(run, path);
    if (now === told.text) continue;
    const change = { path, before: fileOf(told.text), after: now === null ? null : fileOf(now), from: null };
    const diff = foldDeleted(renderChanges([change]));
    if (now === null || diff.length > room) files.delete(path);
    else files.set(path, { text: now, lines: knownAfterDiff(told, linesOf(now)) });
    if (diff.length > room) unshown.push(path);
    else diffs.push(diff.trimEnd());
    room -= diff.length > room ? 0 : diff.length;
  }
  const more = unshown.length === 0 ? "" : `Changed since it was shown, by more than fits here: ${unshown.join(", ")}.`;
  return [diffs.length === 0 ? "" : fence("diff", { since: "shown" }, diffs.join("\n")), more]
    .filter(Boolean)
    .join("\n");
}
