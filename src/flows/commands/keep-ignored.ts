/** Keeps a command's changes of ignored paths: small files can be rolled back; others are copied and reported. */
import { approvalWording } from "../../core/approval-wording.ts";
import { type ErrorCode, toPaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { CommandResult, IgnoredChanges, Proposal } from "../../core/ports.ts";
import { nameSome } from "../../core/suggest.ts";
import { applyUnasked } from "../changes/batch.ts";
import type { Refusal } from "../changes/judge.ts";
import { withinOnly } from "../changes/only.ts";
import type { Run } from "../run.ts";

/**
 * Errors after which files are copied as they are: another process is writing one, or the policy forbids to keep it.
 */
const unkept: readonly ErrorCode[] = [
  "conflict",
  "path_refused",
  "file_unusable",
  "delete_refused",
  "permission_denied",
];

/** Deletions that cannot be undone need a separate yes, headless --allow-delete. null: nothing is refused. */
export async function refuseLost(run: Run, { lost }: IgnoredChanges): Promise<Refusal | null> {
  const { options, ports } = run;
  const named = nameSome(lost);
  if (lost.length === 0 || options.allowDelete || options.dryRun) return null;
  if (!options.interactive) {
    return {
      code: "delete_refused",
      text: `it deletes ${named}, ignored and cannot be restored: headless that needs --allow-delete`,
    };
  }
  if ((await ports.decide({ kind: "changes", text: approvalWording.lostFiles(lost) })).accept) return null;
  return { code: "declined", text: `the user declined to delete ${named}` };
}

/** Keeps the ignored changes that --only allows, and forgets what the run knew of these files. */
export async function keepIgnored(
  run: Run,
  { command, proposal: { ignored, accept } }: CommandResult & { readonly proposal: Proposal },
): Promise<void> {
  const { only } = run.options;
  const isWithin = (path: RelPath) => withinOnly(only, path);
  const kept = ignored.kept.filter(({ path }) => isWithin(path));
  const paths = [...ignored.carried, ...ignored.kept.map(({ path }) => path)];
  run.overlay.release(paths);
  const isKept = await applyUnasked(run, kept).then(
    () => true,
    (thrown) => {
      if (!unkept.includes(toPaiError(thrown).code)) throw thrown;
      return false;
    },
  );
  const brought = await accept([...ignored.carried.filter(isWithin), ...(isKept ? [] : kept.map(({ path }) => path))]);
  const tell = (text: string) =>
    run.emit({ type: "notice", level: "info", code: "command_left", text: `${command}: ${text}` });
  if (brought.length > 0) tell(`${sayIgnored(brought)} brought over and cannot be taken back`);
  for (const path of brought) run.record.stays.add(path);
  const left = paths.filter((path) => !isWithin(path));
  if (left.length > 0) tell(`${sayIgnored(left)} not kept, as --only ${only.flat().join(" ")} leaves it out`);
}

/** The subject of a notice about ignored paths: "a, b and 3 more are ignored: they were". */
export const sayIgnored = (paths: readonly RelPath[]): string =>
  `${nameSome(paths)} ${paths.length === 1 ? "is ignored: it was" : "are ignored: they were"}`;
