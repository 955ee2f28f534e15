/** Judges, reports and puts back changes of commands to closed files, where no sandbox prevented them. */

import type { RelPath } from "../../core/path.ts";
import type { ClosedChange, CommandResult } from "../../core/ports.ts";
import { nameSome } from "../../core/suggest.ts";
import { isAllowed, refuseUnallowed } from "../changes/allowed.ts";
import type { Refusal } from "../changes/judge.ts";
import type { Run } from "../run.ts";

const nameAll = (changes: readonly ClosedChange[]): string => nameSome(changes.map(({ path }) => path));

/** Puts back all closed files that the command changed, since none of its changes stays. */
export async function putBackClosed(run: Run, result: CommandResult): Promise<void> {
  const { changes = [], unread = [] } = result.closed ?? {};
  await putBack(run, result, [...changes.map(({ path }) => path), ...unread]);
}

const pathsOf = (changes: readonly ClosedChange[]): readonly RelPath[] => changes.map(({ path }) => path);

/** Puts these paths back; notices name those that somebody else has changed since. */
async function putBack(run: Run, { closed }: CommandResult, paths: readonly RelPath[]): Promise<void> {
  if (paths.length === 0) return;
  for (const path of (await closed?.putBack(new Set(paths))) ?? []) {
    const text = `${path} was changed by someone else meanwhile and was left as it is`;
    run.emit({ type: "notice", level: "warning", code: "left_in_place", text });
  }
}

/** Refuses a planned command's changes of closed files if they are denied, or steer without approval. null: allowed. */
export async function refuseClosed(run: Run, result: CommandResult): Promise<Refusal | null> {
  const changes = result.closed?.changes ?? [];
  const denied = changes.filter(({ isDenied }) => isDenied);
  const steering = changes.filter(({ isDenied }) => !isDenied);
  const refusal =
    steering.length === 0
      ? null
      : await refuseUnallowed(
          run,
          steering.map(({ path }) => path),
        );
  const refused = [...denied, ...(refusal === null ? [] : steering)];
  if (refused.length === 0) return result.forbidden == null ? null : { code: "path_refused", text: result.forbidden };
  if (denied.length === 0) return refusal && { code: refusal.error.code, text: refusal.error.message };
  const way = denied.some(({ path }) => /(^|\/)\.git(\/|$)/.test(path)) ? "; --allow-git lets commands write .git" : "";
  return { code: "path_refused", text: `${nameAll(denied)} may not be changed${way}` };
}

/**
 * For a command that the user typed. Headless, its changes of files that run unasked or steer agents are put back,
 * unless a flag names them; the others stay unless the run is rolled back. Reports both.
 */
export async function tellClosed(run: Run, result: CommandResult): Promise<void> {
  const changes = result.closed?.changes ?? [];
  const back = run.options.interactive
    ? []
    : changes.filter(({ path, runsUnasked, isDenied }) => (runsUnasked || !isDenied) && !isAllowed(run, path));
  const stays = changes.filter((change) => !back.includes(change));
  if (back.length > 0) {
    await putBack(run, result, pathsOf(back));
    const text = `${result.command}: it changed what runs code without being asked or steers agents, which was put back: ${nameAll(back)}`;
    run.emit({ type: "notice", level: "warning", code: "path_refused", text });
  }
  if (stays.length > 0) {
    const text = `${result.command}: it changed files that are closed to pai, and that go back if the run fails: ${nameAll(stays)}`;
    run.emit({ type: "notice", level: "warning", code: "command_left", text });
  }
}
