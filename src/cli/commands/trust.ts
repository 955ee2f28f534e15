/** `pai trust`: lets a project's pai.json do more than narrow, until its content changes. */
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { loadSettings } from "../../store/settings.ts";
import { projectFile, readProjectFile, revokeTrust, trustProject } from "../../store/trust.ts";
import { visible } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { findRoot, openPlaces } from "../compose/base.ts";

export async function trustCommand(context: Context): Promise<number> {
  const root = findRoot(context);
  const { text, trusted } = context.flags.revoke === true ? revoke(root, context) : trust(root, context);
  return showResult(context, "trust", { root, file: projectFile, trusted }, visible(text));
}

interface Done {
  readonly text: string;
  readonly trusted: boolean;
}

/** A file that could not be used cannot be trusted either: loading it throws first. */
function trust(root: string, { env }: Context): Done {
  const places = openPlaces(env);
  loadSettings({ flags: {}, env: {}, places, root });
  const content = readProjectFile(root) ?? "";
  trustProject(places, root);
  return {
    text: `${maskSecrets(content).trimEnd()}\n\nTrusted ${projectFile} in ${root} as it is now\n`,
    trusted: true,
  };
}

function revoke(root: string, { env }: Context): Done {
  const had = revokeTrust(openPlaces(env), root);
  return { text: `${projectFile} in ${root} ${had ? "is no longer trusted" : "was not trusted"}\n`, trusted: false };
}
