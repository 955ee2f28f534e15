/** Which projects' `pai.json`, commands and skills the user trusts, each bound to a hash of the content. */
import { join } from "node:path";
import * as z from "zod/mini";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import type { Places } from "./places.ts";
import { openStateFile } from "./state-file.ts";

/** `changed`: trusted with an earlier content; `damaged`: the file that says it is, and grants no trust. */
export type Trust = "trusted" | "changed" | "untrusted" | "damaged";

/** `text`: current content of pai.json. Throws config_invalid if others may write the trust file. */
export function trustOf(places: Places, root: string, text: string): Trust {
  return compare(places, "roots", root, digest(text));
}

export function promptTrustOf(places: Places, root: string, hash: string): Trust {
  return compare(places, "prompts", root, hash);
}

function compare(places: Places, kind: Kind, root: string, hash: string): Trust {
  const file = places.stateDir === null ? null : fileIn(places.stateDir);
  const known = file?.read()[kind][root];
  if (known === undefined) return file?.isDamaged() === true ? "damaged" : "untrusted";
  return known === hash ? "trusted" : "changed";
}

/** Settings and prompts are trusted separately: by root, the hash of what is trusted. */
const shape = z.object({
  roots: z.record(z.string(), z.string()),
  prompts: z.record(z.string(), z.string()),
});
type Kind = keyof z.infer<typeof shape>;

const fileIn = (stateDir: string) => openStateFile(join(stateDir, "trust.json"), shape, { roots: {}, prompts: {} });

/** Trusts this content of `root`'s pai.json. Throws config_invalid if there is no folder to record it. */
export function trustProject(places: Places, root: string, text: string): void {
  change(places, "roots", (hashes) => ({ ...hashes, [root]: digest(text) }));
}

export function trustPrompts(places: Places, root: string, hash: string): void {
  change(places, "prompts", (hashes) => ({ ...hashes, [root]: hash }));
}

export function revokeTrust(places: Places, root: string): boolean {
  let had = false;
  for (const kind of ["roots", "prompts"] as const)
    change(places, kind, ({ [root]: hash, ...others }) => {
      had ||= hash !== undefined;
      return others;
    });
  return had;
}

function change(places: Places, kind: Kind, edit: (hashes: Record<string, string>) => Record<string, string>): void {
  if (places.stateDir === null) {
    throw new PaiError("config_invalid", "no state folder to keep trust in", {
      hint: "set HOME or PAI_STATE_DIR",
    });
  }
  fileIn(places.stateDir).edit((all) => ({ ...all, [kind]: edit(all[kind]) }));
}
