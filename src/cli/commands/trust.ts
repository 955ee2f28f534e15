/** `pai trust`: lets a project's pai.json do more than narrow, and its commands and skills be used, until one changes. */
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { readProjectPrompts } from "../../store/prompt-files.ts";
import { loadSettings } from "../../store/settings.ts";
import { projectFile, readProjectFile, revokeTrust, trustProject, trustPrompts } from "../../store/trust.ts";
import { visible } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { findRoot, openPlaces } from "../compose/base.ts";

export async function trustCommand(context: Context): Promise<number> {
  const root = findRoot(context);
  const { text, trusted, prompts } = context.flags.revoke === true ? revoke(root, context) : trust(root, context);
  return showResult(context, "trust", { root, file: projectFile, trusted, prompts }, visible(text));
}

interface Done {
  readonly text: string;
  readonly trusted: boolean;
  /** Paths of the commands and skills that were trusted. */
  readonly prompts: readonly string[];
}

/** A file that could not be used cannot be trusted either: loading it throws first. */
function trust(root: string, { env }: Context): Done {
  const places = openPlaces(env);
  loadSettings({ flags: {}, env: {}, places, root });
  const content = readProjectFile(root);
  const prompts = readProjectPrompts(root);
  // Without either it says that there is nothing to trust.
  if (content !== null || prompts === null) trustProject(places, root);
  if (prompts !== null) trustPrompts(places, root, prompts.digest);
  const texts = prompts?.texts ?? [];
  const paths = texts.map(({ path }) => path);
  const shown = [
    ...(content === null ? [] : [content]),
    ...texts.map(({ path, text }) => `${path}:\n${text.trimEnd()}\n`),
  ].map((text) => maskSecrets(text).trimEnd());
  const named = [...(content === null ? [] : [projectFile]), ...paths].join(", ");
  return {
    text: `${shown.join("\n\n")}\n\nTrusted ${named} in ${root} as ${paths.length > 0 ? "they are" : "it is"} now\n`,
    trusted: true,
    prompts: paths,
  };
}

function revoke(root: string, { env }: Context): Done {
  const had = revokeTrust(openPlaces(env), root);
  return {
    text: `${projectFile} in ${root} ${had ? "is no longer trusted" : "was not trusted"}\n`,
    trusted: false,
    prompts: [],
  };
}
