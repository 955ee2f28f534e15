/** `pai completion`: scripts for shells, made from the table of commands. */

import { showResult } from "../answer-document.ts";
import { chooseWord } from "../choose-word.ts";
import type { Command, Handler } from "../command.ts";
import { renderBash } from "../completion/bash.ts";
import { renderFish } from "../completion/fish.ts";
import { describeGrammar } from "../completion/grammar.ts";
import { renderZsh } from "../completion/zsh.ts";

const renderers = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const;
const shells = ["bash", "zsh", "fish"] as const;

export const completionCommand =
  (commands: readonly Command[], session: Command): Handler =>
  async (context) => {
    const shell = chooseWord("completion", context.words, shells);
    const script = renderers[shell](describeGrammar(commands, session));
    return showResult(context, "completion", { shell, script }, script);
  };
