/** `pai completion`: scripts for shells, made from the table of commands. */

import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { openPlaces } from "../../store/places.ts";
import { openReceipts } from "../../store/receipts.ts";
import { sessionIds } from "../../store/sessions.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import { stateFolderOf } from "../../workspace/journal/open-state.ts";
import { showResult } from "../answer-document.ts";
import { chooseWord } from "../choose-word.ts";
import type { Command, Context, Handler } from "../command.ts";
import { renderBash } from "../completion/bash.ts";
import { renderFish } from "../completion/fish.ts";
import { describeGrammar, type IdKind, idKinds } from "../completion/grammar.ts";
import { renderZsh } from "../completion/zsh.ts";

const renderers = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const;
const shells = ["bash", "zsh", "fish"] as const;

export const completionCommand =
  (commands: readonly Command[], session: Command): Handler =>
  async (context) => {
    const kind = idKinds.find((each) => each === context.words[0]);
    if (kind !== undefined) {
      const lines = listIds(context, kind);
      return showResult(context, "completion", { lines }, lines.map((line) => `${line}\n`).join(""));
    }
    const shell = chooseWord("completion", context.words, shells);
    const script = renderers[shell](describeGrammar(commands, session));
    return showResult(context, "completion", { shell, script }, script);
  };

const maxIds = 50;
const maxTask = 60;

const shorten = (task: string) => (task.length > maxTask ? `${task.slice(0, maxTask - 1).toWellFormed()}…` : task);

/** Lines of id, tab and task, newest first; for sessions only the id. Empty where nothing is kept. */
function listIds({ cwd, env }: Pick<Context, "cwd" | "env">, kind: IdKind): readonly string[] {
  const { stateDir } = openPlaces(env);
  if (stateDir === null) return [];
  const folder = stateFolderOf(realpathSync(cwd), stateDir);
  if (kind === "sessions") return [...sessionIds(join(folder, "sessions"))].sort().reverse().slice(0, maxIds);
  const receipts = openReceipts(join(folder, "runs"));
  const isKept = (id: string) => kind === "runs" || existsSync(join(folder, "journal", id));
  return receipts
    .ids()
    .filter(isKept)
    .slice(0, maxIds)
    .map((id) => `${id}\t${shorten(visibleLine(receipts.ends(id).started?.task.text ?? ""))}`);
}
