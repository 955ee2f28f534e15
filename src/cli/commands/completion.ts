/** `pai completion`: scripts for shells, made from the table of commands. */

import { showResult } from "../answer-document.ts";
import { chooseWord } from "../choose-word.ts";
import type { Command, Handler } from "../command.ts";
import { renderBash } from "../completion/bash.ts";
import { renderFish } from "../completion/fish.ts";
import { describeGrammar } from "../completion/grammar.ts";
import { idKinds } from "../completion/id-kinds.ts";
import { listIds } from "../completion/list-ids.ts";
import { renderZsh } from "../completion/zsh.ts";

const renderers = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const;
const shells = ["bash", "zsh", "fish"] as const;

export const completionCommand =
  (commands: readonly Command[]): Handler =>
  async (context) => {
    const kind = idKinds.find((each) => each === context.words[0]);
    if (kind !== undefined) {
      const lines = listIds(context, kind);
      return showResult(context, "completion", { lines }, lines.map((line) => `${line}\n`).join(""));
    }
    const shell = chooseWord("completion", context.words, shells);
    const script = renderers[shell](describeGrammar(commands));
    return showResult(context, "completion", { shell, script }, script);
  };
