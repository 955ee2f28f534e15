/** Takes back changes of a check that need approval: it may have run code that the model wrote. */
import { type Change, invert } from "../../core/change.ts";
import type { CommandResult } from "../../core/ports.ts";
import { refuseUnallowed } from "../changes/allowed.ts";
import { tellClosed } from "../commands/closed.ts";
import { settleInPlace } from "../commands/in-place.ts";
import type { Run } from "../run.ts";

const isMadeFolder = ({ before, after }: Change) => before === null && after?.kind === "folder";

async function takeBack(run: Run, changes: readonly Change[]): Promise<void> {
  const back = invert(changes);
  await (await run.transaction()).apply(back);
  run.overlay.learn(back);
}

/**
 * Takes back steering files that a check of the user wrote, with folders made only for them, unless somebody allows
 * them: the user typed the command, but not what it does. Its other changes stay. Reports what was taken back.
 */
async function judgeUserCheck(run: Run, { command, changes, forbidden }: CommandResult): Promise<void> {
  if (forbidden != null) {
    await takeBack(run, changes);
    const text = `${command}: what it changed was taken back: ${forbidden}`;
    return run.emit({ type: "notice", level: "warning", code: "path_refused", text });
  }
  const touched = changes.filter(({ after }) => after !== null && after.kind !== "folder").map(({ path }) => path);
  const refused = new Set((await refuseUnallowed(run, touched))?.paths);
  if (refused.size === 0) return;
  const isBelow = (folder: string, paths: Iterable<string>) => [...paths].some((path) => path.startsWith(`${folder}/`));
  const stays = touched.filter((path) => !refused.has(path));
  const isForThem = (change: Change) =>
    isMadeFolder(change) && isBelow(change.path, refused) && !isBelow(change.path, stays);
  await takeBack(
    run,
    changes.filter((change) => refused.has(change.path) || isForThem(change)),
  );
  const named = [...refused].join(", ");
  const text = `${command}: it changed what runs code without being asked or steers agents, which was taken back: ${named}; --allow ${[...refused][0]} allows it`;
  run.emit({ type: "notice", level: "warning", code: "path_refused", text });
}

/** Judges what a check changed in the workspace; a check of the plan is judged like any command of the plan. */
export async function judgeLeft(
  run: Run,
  { command, by }: { readonly command: string; readonly by: "user" | "plan" },
  result: CommandResult,
): Promise<void> {
  if (by === "user") {
    await judgeUserCheck(run, result);
    return tellClosed(run, result);
  }
  const refused = await settleInPlace(run, null, result);
  if (refused !== null)
    run.emit({ type: "notice", level: "warning", code: refused.code, text: `${command}: ${refused.text}` });
}
