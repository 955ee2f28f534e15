/** `pai trust`: trusts a project's pai.json, commands and skills with their current content. */

import { commandWording } from "../../core/approval-wording.ts";
import { digest } from "../../core/digest.ts";
import { PaiError } from "../../core/error.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { openPlaces } from "../../store/places.ts";
import { readProjectPrompts } from "../../store/prompt-files.ts";
import { loadSettings, projectFile, readProjectFile } from "../../store/settings.ts";
import { setTrust } from "../../store/trust.ts";
import { visible } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { findRoot } from "../compose/base.ts";
import { askYes, isInteractive } from "../compose/view.ts";

export async function trustCommand(context: Context): Promise<number> {
  const root = findRoot(context);
  const done = context.flags.revoke === true ? revoke(root, context) : await trust(root, context);
  const { text, ...told } = done;
  return showResult(context, "trust", { root, file: projectFile, ...told }, visible(text));
}

/** Shows what would be trusted and asks, if a person can be asked. Throws declined. */
async function requireYes(context: Context, shown: string): Promise<void> {
  if (!isInteractive(context)) return;
  context.err(`${visible(shown)}\n\n`);
  await askYes(context, commandWording.trust, "nothing was trusted");
}

/** Trusts what the folder contains. Loading it first throws for a file that cannot be used. */
async function trust(root: string, context: Context) {
  const places = openPlaces(context.env);
  loadSettings({ flags: {}, env: {}, places, root });
  const content = readProjectFile(root);
  const prompts = readProjectPrompts(root);
  const texts = prompts?.texts ?? [];
  const paths = texts.map(({ path }) => path);
  const shown = [
    ...(content === null ? [] : [content]),
    ...texts.map(({ path, text }) => `${path}:\n${text.trimEnd()}\n`),
  ]
    .map((text) => maskSecrets(text).trimEnd())
    .join("\n\n");
  if (shown !== "") await requireYes(context, shown);
  if (content === null && prompts === null) {
    const missing = `no ${projectFile}, and no commands or skills in .pai`;
    throw new PaiError("config_invalid", `there is nothing to trust in ${root}: ${missing}`);
  }
  // Trusts exactly the content that was shown.
  if (content !== null) setTrust(places, "roots", root, digest(content));
  if (prompts !== null) setTrust(places, "prompts", root, prompts.digest);
  const named = [...(content === null ? [] : [projectFile]), ...paths].join(", ");
  const text = `Trusted ${named} in ${root} as ${paths.length > 0 ? "they are" : "it is"} now\n`;
  return { text: isInteractive(context) ? text : `${shown}\n\n${text}`, trusted: true, prompts: paths };
}

function revoke(root: string, { env }: Context) {
  const had = (["roots", "prompts"] as const).map((kind) => setTrust(openPlaces(env), kind, root, null)).includes(true);
  const text = `${projectFile} in ${root} ${had ? "is no longer trusted" : "was not trusted"}\n`;
  return { text, trusted: false, prompts: [] };
}
