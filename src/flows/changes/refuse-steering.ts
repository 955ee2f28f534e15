/** Decides who may change steering files, and which paths the user named by globs. */
import { approvalWording } from "../../core/approval-wording.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Run } from "../run.ts";

/** Whether a glob matches a path; `folder/**` also matches the folder itself. */
const names = (glob: string, path: string) =>
  [glob, glob.replace(/\/\*\*$/, "")].some((each) => new Bun.Glob(each).match(path));

/** Whether every group of --only globs has one that matches the path. */
export function withinOnly(only: readonly (readonly string[])[], path: string): boolean {
  return only.every((globs) => globs.some((glob) => names(glob, path)));
}

/** Steering files that may not be changed in this run, and why. */
export interface SteeringRefusal {
  readonly paths: readonly RelPath[];
  readonly error: PaiError;
}

/** Whether a person or a flag has allowed to change this steering file. */
export const isSteeringAllowed = ({ options: { only, allowSteering }, record }: Run, path: RelPath): boolean =>
  record.steering.has(path) ||
  only.some((globs) => globs.includes(path)) ||
  (allowSteering.length > 0 && withinOnly([allowSteering], path));

/** Paths that need an own yes and that nobody has allowed yet, each with the reason. */
function openConcerns(run: Run, paths: readonly RelPath[]): ReadonlyMap<RelPath, string> {
  const { options, ports } = run;
  const concerns = new Map<RelPath, string>();
  if (options.planOnly || options.dryRun) return concerns;
  for (const path of paths) {
    const concern = isSteeringAllowed(run, path) ? null : ports.workspace.concern(path);
    if (concern !== null) concerns.set(path, concern);
  }
  return concerns;
}

/**
 * Steering files need a yes of their own: from a flag that names them, or from the person at the terminal, who is asked
 * once a run about each. null: they may be changed.
 */
export async function refuseSteering(run: Run, touched: readonly RelPath[]): Promise<SteeringRefusal | null> {
  const concerns = openConcerns(run, touched);
  const paths = [...concerns.keys()];
  const [first] = concerns;
  if (first === undefined) return null;
  if (!run.options.interactive) {
    const [path, concern] = first;
    const error = new PaiError(
      "path_refused",
      `${path}: ${concern}; headless only --allow-steering ${path} allows it`,
      {
        hint: `allow it by naming it: --allow-steering ${path}`,
      },
    );
    return { paths, error };
  }
  const decision = await run.ports.decide({ kind: "scope", text: approvalWording.steering(concerns) });
  if (!decision.accept) {
    const error = new PaiError("declined", `${paths.join(", ")}: the user declined to change what steers others`);
    return { paths, error };
  }
  for (const each of paths) run.record.steering.add(each);
  return null;
}
