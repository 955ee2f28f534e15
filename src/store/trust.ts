/** Which projects' `pai.json` the user trusts: each bound to the hash of its content. */
import { join } from "node:path";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import type { Places } from "./places.ts";
import { readPrivate, readRegular, withLock, writePrivate } from "./safe-file.ts";

export const projectFile = "pai.json";

/** `changed`: trusted once, with another content. */
export type Trust = "trusted" | "changed" | "untrusted";

/** Text of the project's pai.json; null when there is none. A link is not followed and counts as none. */
export function readProjectFile(root: string): string | null {
  return readRegular(join(root, projectFile), { follow: false });
}

/** `text` is the content of the file as it is now. Throws config_invalid for a trust file that others may write. */
export function trustOf(places: Places, root: string, text: string): Trust {
  const known = places.stateDir === null ? undefined : readHashes(fileIn(places.stateDir)).get(root);
  if (known === undefined) return "untrusted";
  return known === digest(text) ? "trusted" : "changed";
}

/** Binds the present content of `root`'s pai.json. Throws config_invalid when there is none or no place to keep it. */
export function trustProject(places: Places, root: string): void {
  const text = readProjectFile(root);
  if (text === null) throw new PaiError("config_invalid", `there is no ${projectFile} in ${root}`);
  change(places, (hashes) => hashes.set(root, digest(text)));
}

/** True when there was trust to take back. */
export function revokeTrust(places: Places, root: string): boolean {
  let had = false;
  change(places, (hashes) => {
    had = hashes.delete(root);
  });
  return had;
}

function change(places: Places, edit: (hashes: Map<string, string>) => void): void {
  if (places.stateDir === null) {
    throw new PaiError("config_invalid", "there is no state folder to keep trust in", {
      hint: "set HOME or PAI_STATE_DIR",
    });
  }
  const file = fileIn(places.stateDir);
  withLock(file, () => {
    const hashes = readHashes(file);
    edit(hashes);
    writePrivate(file, `${JSON.stringify({ version: 1, roots: Object.fromEntries(hashes) }, null, 2)}\n`);
  });
}

/** What cannot be read as trust is not trust. */
function readHashes(file: string): Map<string, string> {
  const text = readPrivate(file);
  if (text === null) return new Map();
  try {
    const roots = (JSON.parse(text) as { readonly roots?: unknown } | null)?.roots;
    const entries = typeof roots === "object" && roots !== null ? Object.entries(roots) : [];
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return new Map();
  }
}

const fileIn = (stateDir: string): string => join(stateDir, "trust.json");
