/** Replaces names of secrets in what the model writes by their values, if the file held them; else asks or refuses. */

import { approvalWording } from "../core/approval-wording.ts";
import type { Blob, Change } from "../core/change.ts";
import { spellAllow } from "../core/command/quote.ts";
import { PaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import { type PlanClaim, pathsOfClaim } from "../core/plan/scope.ts";
import { holdsText } from "../core/secrets/opened-text.ts";
import { rowOf } from "../core/vocabulary.ts";
import type { Changing } from "./changes/changing.ts";
import type { Run } from "./run.ts";
import { contentsAtStart } from "./veiled-view.ts";

interface Refusal {
  readonly code: "secret_refused";
  /** For the model. */
  readonly text: string;
}

/** Whether one of these files held exactly this text. */
const holds = (blobs: readonly Blob[], value: string): boolean =>
  blobs.some((blob) => blob.kind === "file" && holdsText(blob.bytes, value));

const isNamed = ({ allow }: Readonly<Changing>, path: RelPath): boolean => allow.includes(path);

/** Whether the user lets any secret of the run be written to this file. */
export const mayHoldSecrets = (changing: Readonly<Changing>, path: RelPath): boolean =>
  changing.secrets.has(path) || isNamed(changing, path);

/** Asks once for each file of a run. null: the values may be written to it. */
async function refuseSecret(run: Run, path: RelPath, names: readonly string[]): Promise<Refusal | null> {
  const shown = names.join(", ");
  const what = `${path} did not hold what ${shown} stands for when the run began`;
  if (run.interactive) {
    const { accept } = await run.decide({ kind: "changes", text: approvalWording.secret(path, shown) });
    if (!accept) return { code: "secret_refused", text: `${what}, and the user declined to write it there` };
  } else if (!isNamed(run.changing, path)) {
    return { code: "secret_refused", text: `${what}; headless only ${spellAllow(path)} writes it there` };
  }
  run.changing.secrets.add(path);
  return null;
}

async function unveilBlob(run: Run, path: RelPath, after: Blob | null): Promise<Blob | null | Refusal> {
  if (after?.kind !== "file") return after;
  const { veil, overlay, begun, changing } = run;
  // Most files name no secret.
  if (veil.revealBytes(after.bytes, () => false).kept.length === 0) return after;
  const now = await overlay.read(path);
  const known = contentsAtStart([...(begun?.changes ?? changing.staged), ...overlay.staged()], path, now);
  const may = (value: string) => mayHoldSecrets(run.changing, path) || holds(known, value);
  const first = veil.revealBytes(after.bytes, may);
  // A name that the file held as plain text would itself have been hidden, so names without a value are unknown.
  const dead = first.kept.filter((name) => veil.reveal(name, () => true).kept.length > 0);
  if (dead.length > 0) {
    const text = `nobody knows any more what ${dead.join(", ")} stands for: leave such lines as they are with MODIFY`;
    return { code: "secret_refused", text };
  }
  if (first.kept.length === 0) return { ...after, bytes: first.bytes };
  const refusal = await refuseSecret(run, path, first.kept);
  return refusal ?? { ...after, bytes: veil.revealBytes(after.bytes, () => true).bytes };
}

/** Turns changes of what the model sees into changes of the real files. A refusal holds for the whole call. */
export async function unveil(run: Run, changes: readonly Change[]): Promise<readonly Change[] | Refusal> {
  const unveiled: Change[] = [];
  for (const change of changes) {
    const after = await unveilBlob(run, change.path, change.after);
    if (after !== null && "code" in after) return after;
    unveiled.push({ ...change, before: run.veiled.rawOf(change.before), after });
  }
  return unveiled;
}

/** Whether an action reads or writes content, and so works on files with names in place of secrets. */
export const isVeiled = (name: string): boolean => {
  const row = rowOf(name);
  return row?.kind === "look" || row?.form === "content" || row?.form === "edits";
};

/** Refuses a path that holds the name of a secret. Throws path_refused. */
export function refuseNames(run: Run, claim: PlanClaim | null): void {
  const [name] = run.veil.namesIn(claim === null ? "" : pathsOfClaim(claim).join("\n"));
  if (name === undefined) return;
  throw new PaiError(
    "path_refused",
    `${name} stands for a secret that was hidden from you: it cannot be part of a path`,
  );
}
