/** Judges the changes of a planned command that worked in place, like a proposal, and takes refused ones back. */
import { type Change, invert, type UnkeptChange } from "../../core/change.ts";
import type { Rights } from "../../core/plan/scope.ts";
import type { CommandResult } from "../../core/ports.ts";
import { nameSome } from "../../core/suggest.ts";
import { judgeCommand, type Refusal, refusePath } from "../changes/judge.ts";
import { withinOnly } from "../changes/only.ts";
import type { Run } from "../run.ts";
import { putBackClosed, refuseClosed } from "./closed.ts";
import { sayIgnored } from "./keep-ignored.ts";

/** Keeps all changes of a command or none; returns why none was kept, null when they were. */
export async function settleInPlace(run: Run, rights: Rights | null, result: CommandResult): Promise<Refusal | null> {
  const left = ignoredOutside(run, result);
  const changes = result.changes.filter((change) => !left.includes(change));
  const refusal = (await refuse(run, rights, result, changes)) ?? null;
  await takeBack(run, refusal === null ? left : result.changes);
  if (refusal === null) tellLeft(run, result, left);
  else await putBackClosed(run, result);
  return refusal && { ...refusal, text: `what the command changed was taken back. ${refusal.text}` };
}

/** Changes of ignored files outside --only: they are not kept, as on a copy, but do not refuse the other changes. */
function ignoredOutside({ options: { only } }: Run, { changes, ignored }: CommandResult): readonly Change[] {
  return changes.filter(({ path, after }) => after !== null && ignored?.has(path) && !withinOnly(only, path));
}

async function refuse(
  run: Run,
  rights: Rights | null,
  result: CommandResult,
  changes: readonly Change[],
): Promise<Refusal | null> {
  const { ignored, unkept = [], closed } = result;
  const refused = await refuseClosed(run, result);
  if (refused !== null) return refused;
  const others = [...unkept.filter(({ isIgnored }) => !isIgnored).map(({ path }) => path), ...(closed?.unread ?? [])];
  for (const path of others) {
    const refusal = refusePath(run, path, "write");
    if (refusal !== null) return refusal;
  }
  // Of ignored files only removals are judged, as on a copy.
  const judged = changes.filter(({ path, after }) => after === null || !ignored?.has(path));
  return (await judgeCommand(run, rights, judged, false)) ?? refuseLost(run, unkept);
}

function refuseLost({ options }: Run, unkept: readonly UnkeptChange[]): Refusal | null {
  if (options.interactive || options.allowDelete) return null;
  const lost = unkept.filter(({ isGone }) => isGone);
  if (lost.length === 0) return null;
  const named = nameSome(lost.map(({ path }) => path));
  return {
    code: "delete_refused",
    text: `it deleted ${named}, which cannot be restored: headless that needs --allow-delete`,
  };
}

async function takeBack(run: Run, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  const back = invert(changes);
  await (await run.transaction()).apply(back);
  run.overlay.learn(back);
}

function tellLeft(run: Run, { command, stays = [] }: CommandResult, left: readonly Change[]): void {
  const { only } = run.options;
  const named = `--only ${only.flat().join(" ")}`;
  const tell = (text: string) =>
    run.emit({ type: "notice", level: "info", code: "command_left", text: `${command}: ${text}` });
  if (left.length > 0) tell(`${sayIgnored(left.map(({ path }) => path))} not kept, as ${named} leaves it out`);
  const outside = stays.filter((path) => !withinOnly(only, path));
  if (outside.length > 0) tell(`${sayIgnored(outside)} changed, which ${named} leaves out, and cannot be taken back`);
}
