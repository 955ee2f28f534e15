/** Who may change files that steer, and which paths the user named by globs. */
import { approvalWording } from "../../core/approval-wording.ts";
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Run } from "../run.ts";

/** What names all that a folder holds names the folder. */
const names = (glob: string, path: string) =>
  [glob, glob.replace(/\/\*\*$/, "")].some((each) => new Bun.Glob(each).match(path));

/** True when every group of --only globs has one that names the path. */
export function withinOnly(only: readonly (readonly string[])[], path: string): boolean {
  return only.every((globs) => globs.some((glob) => names(glob, path)));
}

/** Why a file that steers may not be changed in this run. */
export interface SteeringRefusal {
  readonly paths: readonly RelPath[];
  readonly error: PaiError;
}

/** Whether a person or a flag has allowed to change a file that steers. */
export const isSteeringAllowed = ({ options: { only, allowSteering }, record }: Run, path: RelPath): boolean =>
  record.steering.has(path) ||
  only.some((globs) => globs.includes(path)) ||
  (allowSteering.length > 0 && withinOnly([allowSteering], path));

/** Paths that run code without being asked, or steer agents, and that nobody has allowed yet, each with the reason. */
function openConcerns(run: Run, paths: readonly RelPath[]): ReadonlyMap<RelPath, string> {
  const { options, ports } = run;
  if (options.planOnly || options.dryRun) return new Map();
  return new Map(
    paths.flatMap((path) => {
      const concern = isSteeringAllowed(run, path) ? null : ports.workspace.concern(path);
      return concern === null ? [] : [[path, concern] as const];
    }),
  );
}

/**
 * Files that steer need a yes of their own: a flag that names them, or a person at the terminal, who is asked once a run.
 * null: they may be changed.
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
