/** `pai trust`: lets a project's pai.json do more than narrow, until its content changes. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { maskSecrets } from "../core/secret.ts";
import { loadSettings } from "../store/settings.ts";
import { projectFile, readProjectFile, revokeTrust, trustProject } from "../store/trust.ts";
import { renderCommandDocument } from "../ui/json.ts";
import { visible } from "../ui/sanitize.ts";
import type { Command, Context } from "./command.ts";
import { flagsNamed } from "./flags.ts";
import { openPlaces } from "./open-places.ts";

export const trustCommand: Command = {
  name: "trust",
  about: "let this folder's pai.json do more than narrow",
  usage: "",
  flags: flagsNamed("cwd", "revoke", "yes", "force-root"),
  examples: ["pai trust", "pai trust --revoke"],
  run: async (context) => {
    const root = realpathSync(resolve(context.cwd, String(context.flags["cwd"] ?? ".")));
    const { text, trusted } = context.flags["revoke"] === true ? revoke(root, context) : trust(root, context);
    const isJson = context.flags["json"] === true;
    const data = { root, file: projectFile, trusted };
    context.out(isJson ? renderCommandDocument({ command: "trust", code: 0, data, error: null }) : visible(text));
    return 0;
  },
};

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
