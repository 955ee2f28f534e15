/** Decides who may change what is asked about or closed: a flag that names it, or a person's own yes. */

import { approvalWording } from "../../core/approval-wording.ts";
import { spellAllow } from "../../core/command/quote.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Run } from "../run.ts";
import type { Changing } from "./changing.ts";

/** Paths that may not be changed in this run, and why. */
export interface Unallowed {
  readonly paths: readonly RelPath[];
  readonly error: PaiError;
}

/** A name, a folder with all it holds, or a glob. */
const covers = (allowed: string, path: string): boolean =>
  path === allowed ||
  path.startsWith(`${allowed}/`) ||
  [allowed, allowed.replace(/\/\*\*$/, "")].some((glob) => new Bun.Glob(glob).match(path));

/** Whether --allow or a person has allowed to change this path, which is asked about. */
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

/** One refusal for all paths, with the flags that would allow them. */
function refuseAll(concerns: ReadonlyMap<RelPath, string>): PaiError {
  const flags = [...concerns.keys()].map(spellAllow).join(" ");
  const reasons = [...concerns].map(([path, concern]) => `${path}: ${concern}`).join("; ");
  return new PaiError("path_refused", `${reasons}; headless only ${flags} allows it`, {
    hint: `allow it by naming it: ${flags}`,
  });
}

/**
 * What is asked about or closed needs a yes of its own: from a flag that names it, or from the person at the terminal,
 * who is asked once a run about each path. null: all may be changed.
 */
export async function refuseUnallowed(run: Run, touched: readonly RelPath[]): Promise<Unallowed | null> {
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
