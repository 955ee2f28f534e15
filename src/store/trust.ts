/** Which projects' `pai.json`, commands and skills the user trusts, each bound to a hash of the content. */
import * as z from "zod/mini";
import { PaiError } from "../core/error.ts";
import type { Places } from "./places.ts";
import { openStateFile } from "./state-file.ts";

/** `changed`: trusted with an earlier content; `damaged`: the file that says it is, and grants no trust. */
export type Trust = "trusted" | "changed" | "untrusted" | "damaged";

/** Settings (`roots`) and prompts are trusted separately: by root, the hash of what is trusted. */
const hashes = z.record(z.string(), z.string());
const shape = z.object({ roots: hashes, prompts: hashes });
type Kind = keyof z.infer<typeof shape>;

const fileIn = ({ stateDir }: Places) => openStateFile(stateDir, "trust.json", shape, { roots: {}, prompts: {} });

/** `hash`: of the current content. Throws config_invalid if others may write the trust file. */
export function trustOf(places: Places, kind: Kind, root: string, hash: string): Trust {
  const file = fileIn(places);
  const known = file.read()[kind][root];
  if (known === undefined) return file.isDamaged() ? "damaged" : "untrusted";
  return known === hash ? "trusted" : "changed";
}

/** Trusts this content, null: none any more. Returns whether any was trusted. Throws config_invalid without a folder. */
export function setTrust(places: Places, kind: Kind, root: string, hash: string | null): boolean {
  if (places.stateDir === null)
    throw new PaiError("config_invalid", "no state folder to keep trust in", { hint: "set HOME or PAI_STATE_DIR" });
  return fileIn(places).editFor((all) => {
    const { [root]: known, ...others } = all[kind];
    return [{ ...all, [kind]: hash === null ? others : { ...others, [root]: hash } }, known !== undefined];
  });
}
