/** Prints changes outside a run as a diff, in the style of a stream. */
import type { Change } from "../core/change.ts";
import { renderHidden } from "../core/secrets/hide-message.ts";
import { renderDiff } from "../ui/diff/render-diff.ts";
import { columnsOf } from "./answer-document.ts";
import type { Context } from "./command.ts";
import { type Base, findRoot, knownSecrets } from "./compose/base.ts";
import { loadHighlight, styleOf } from "./compose/view.ts";

/** `renderHidden` with the keys of pai, and what the environment and the `.env` files of the project tell of. */
export const renderHiddenHere = (base: Base, changes: readonly Change[]): string =>
  renderHidden(changes, knownSecrets(base, findRoot(base.context)));

export async function styleDiffOn(stream: "stdout" | "stderr", context: Context, diff: string): Promise<string> {
  const style = styleOf(context, context.tty[stream]);
  const highlight = style.color ? await loadHighlight() : null;
  const columns = style.plain ? null : columnsOf(context.env);
  return renderDiff(diff, style, { columns, highlight });
}

export const renderDiffOn = async (
  stream: "stdout" | "stderr",
  base: Base,
  changes: readonly Change[],
): Promise<string> => (changes.length === 0 ? "" : styleDiffOn(stream, base.context, renderHiddenHere(base, changes)));
