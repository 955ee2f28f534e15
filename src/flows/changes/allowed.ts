/** What a person may allow to change: by --only and --allow, by a yes to a path, and by a yes to write secrets into a file. */
import { approvalWording } from "../../core/approval-wording.ts";
import { type Blob, type Change, squash } from "../../core/change.ts";
import { spellAllow } from "../../core/command/quote.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import { type PlanClaim, pathsOfClaim, type Rights } from "../../core/plan/scope.ts";
import type { Touch } from "../../core/ports.ts";
import { standsIn } from "../../core/secrets/key-shapes.ts";
import { meaningsOf } from "../../core/secrets/known-texts.ts";
import { holdsText } from "../../core/text.ts";
import { isLook, rowOf } from "../../core/vocabulary.ts";
import type { Run } from "../run.ts";
import type { Changing, Refusal } from "./changing.ts";

/** Whether a glob matches a path; `folder/**` also matches the folder itself. */
const names = (glob: string, path: string) =>
  [glob, glob.replace(/\/\*\*$/, "")].some((each) => new Bun.Glob(each).match(path));

/** A name, a folder with all it holds, or a glob. */
const covers = (allowed: string, path: string): boolean =>
  path === allowed || path.startsWith(`${allowed}/`) || names(allowed, path);

export const isAllowed = ({ allow, allowed }: Readonly<Changing>, path: RelPath): boolean =>
  allowed.has(path) || allow.some((each) => covers(each, path));

/** Opens the closed files that --allow spells out or a person allowed, and no others. */
export function openAllowed({ changing: { allow, allowed }, workspace }: Run): void {
  workspace.openClosed(new Set([...(allow as readonly RelPath[]), ...allowed]));
}

/** Paths that need a yes of their own and that nobody has allowed yet, each with the reason. */
export function findConcerns(run: Run, paths: readonly RelPath[]): ReadonlyMap<RelPath, string> {
  const { changing, planning, workspace } = run;
  const concerns = new Map<RelPath, string>();
  if (planning.planOnly) return concerns;
  for (const path of paths) {
    const asked = changing.dryRun || isAllowed(run.changing, path) ? null : workspace.concern(path);
    const concern = asked ?? workspace.whyClosed(path);
    if (concern !== null) concerns.set(path, concern);
  }
  return concerns;
}

function refuseAll(concerns: ReadonlyMap<RelPath, string>): PaiError {
  const flags = [...concerns.keys()].map(spellAllow).join(" ");
  const reasons = [...concerns].map(([path, concern]) => `${path}: ${concern}`).join("; ");
  return new PaiError("path_refused", `${reasons}; headless only ${flags} allows it`, {
    hint: `allow it by naming it: ${flags}`,
  });
}

/** Why not all of these may be changed; null: they may. A person is asked once a run about each path. */
export async function refuseUnallowed(run: Run, touched: readonly RelPath[]) {
  const concerns = findConcerns(run, touched);
  const paths = [...concerns.keys()];
  if (paths.length === 0) return null;
  if (!run.interactive) return { paths, error: refuseAll(concerns) };
  const decision = await run.decide({ kind: "scope", text: approvalWording.unallowed(concerns) });
  if (!decision.accept)
    return { paths, error: new PaiError("declined", `${paths.join(", ")}: the user declined to change it`) };
  for (const each of paths) run.changing.allowed.add(each);
  openAllowed(run);
  return null;
}

export async function requireOwnYes(run: Run, touched: readonly RelPath[]): Promise<void> {
  const refusal = await refuseUnallowed(run, touched);
  if (refusal !== null) throw refusal.error;
}

export function withinOnly(only: readonly (readonly string[])[], path: string): boolean {
  return only.every((globs) => globs.some((glob) => names(glob, path)));
}

const holds = (blobs: readonly Blob[], value: string): boolean =>
  blobs.some((blob) => blob.kind === "file" && holdsText(blob.bytes, value));

const isNamed = ({ allow }: Readonly<Changing>, path: RelPath): boolean => allow.includes(path);

export const mayHoldSecrets = (changing: Readonly<Changing>, path: RelPath): boolean =>
  changing.secrets.has(path) || isNamed(changing, path);

/** Whether the plan changes a file and the user typed this value in this task or at its plan or diff. */
export function typedFor({ changing, planning, task, veil }: Run, { scope }: Rights) {
  const words = [task.text, ...planning.corrections, ...changing.corrections];
  const typed = [...words, ...words.flatMap(veil.namesIn)].map((text) => veil.reveal(text, () => true).text);
  const isIn = (value: string) => typed.some((text) => standsIn(text, value));
  return (path: RelPath, value: string) => scope.content.has(path) && meaningsOf(value).some(isIn);
}

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

/** The contents that a path may have had at the start: its own, that of the path it was moved from, and `now`. */
function contentsAtStart(changes: readonly Change[], path: RelPath, now: Blob | null): readonly Blob[] {
  const all = squash(changes);
  const change = all.find((each) => each.path === path);
  const origin = all.find((each) => each.path === change?.from);
  return [change?.before ?? null, origin?.before ?? null, now].filter((blob) => blob !== null);
}

async function unveilBlob(run: Run, rights: Rights | null, { path, after }: Change): Promise<Blob | null | Refusal> {
  if (after?.kind !== "file") return after;
  const { veil, overlay, begun, changing } = run;
  if (veil.revealBytes(after.bytes, () => false).kept.length === 0) return after;
  const now = await overlay.read(path);
  const known = contentsAtStart([...(begun?.changes ?? changing.staged), ...overlay.staged()], path, now);
  const isTyped = rights === null ? () => false : typedFor(run, rights);
  const may = (value: string) => mayHoldSecrets(run.changing, path) || holds(known, value) || isTyped(path, value);
  const first = veil.revealBytes(after.bytes, may);
  // A name that the file held as plain text would itself have been hidden, so names without a value are unknown.
  const dead = first.kept.filter((name) => veil.reveal(name, () => true).kept.length > 0);
  if (dead.length > 0) {
    const text = `nobody knows any more what ${dead.join(", ")} stands for: leave such lines as they are, and edit the others`;
    return { code: "secret_refused", text };
  }
  if (first.kept.length === 0) return { ...after, bytes: first.bytes };
  const refusal = await refuseSecret(run, path, first.kept);
  return refusal ?? { ...after, bytes: veil.revealBytes(after.bytes, () => true).bytes };
}

/** Turns changes of what the model sees into changes of the real files. A refusal holds for the whole call. */
export async function unveil(run: Run, rights: Rights | null, changes: readonly Change[]) {
  const unveiled: Change[] = [];
  for (const change of changes) {
    const after = await unveilBlob(run, rights, change);
    if (after !== null && "code" in after) return after;
    unveiled.push({ ...change, before: run.veiled.rawOf(change.before), after });
  }
  return unveiled;
}

/** Whether an action reads or writes content, and so works on files with names in place of secrets. */
export const isVeiled = (name: string): boolean => {
  const row = rowOf(name);
  return isLook(name) || row?.form === "content" || row?.form === "edits";
};

/** Refuses a path that holds the name of a secret. Throws path_refused. */
export function refuseNames(run: Run, claim: PlanClaim | null): void {
  const [name] = run.veil.namesIn(claim === null ? "" : pathsOfClaim(claim).join("\n"));
  if (name === undefined) return;
  const text = `${name} stands for a secret that was hidden from you: it cannot be part of a path`;
  throw new PaiError("path_refused", text);
}

function touchOf(claim: PlanClaim): Touch {
  if (claim.kind === "content") return "bytes";
  return claim.kind === "setting" && claim.action === "MODE" ? "mode" : "name";
}

/** A file that would lose its owner or group is asked about. Throws permission_denied where nobody can be asked, and declined. */
async function requireOwners({ changing, workspace, interactive, decide }: Run, claim: PlanClaim): Promise<void> {
  if (claim.kind === "delete") return;
  for (const path of pathsOfClaim(claim)) {
    const whose = workspace.lostOwner?.(path, touchOf(claim)) ?? null;
    if (whose === null) continue;
    const what = `${path} belongs to ${whose}, and would belong to you once it is changed`;
    if (!interactive)
      throw new PaiError("permission_denied", what, { hint: "run pai as its owner or as root, who keeps owners" });
    const accept = changing.owners.get(path) ?? (await decide({ kind: "changes", text: `${what}. Change it?` })).accept;
    changing.owners.set(path, accept);
    if (!accept) throw new PaiError("declined", `${path} was left to its owner; nothing was changed`);
  }
}

/** Throws read_only, permission_denied, disk_full, and declined where a person wants no file to lose its owner. */
export async function requireChangeable(run: Run, claims: readonly PlanClaim[]): Promise<void> {
  if (run.planning.planOnly || run.changing.dryRun) return;
  for (const claim of claims) {
    for (const path of pathsOfClaim(claim)) run.workspace.requireWritable?.(path, touchOf(claim));
  }
  for (const claim of claims) await requireOwners(run, claim);
}
