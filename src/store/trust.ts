/** Which projects' `pai.json`, commands and skills the user trusts, each bound to a hash of the content. */
import { join } from "node:path";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import type { Places } from "./places.ts";
import { readPrivate, readRegular, withLock, writePrivate } from "./safe-file.ts";

export const projectFile = "pai.json";

/** `changed`: trusted with an earlier content. */
export type Trust = "trusted" | "changed" | "untrusted";

/** Text of the project's pai.json; null: there is none. A link counts as none. */
export function readProjectFile(root: string): string | null {
  return readRegular(join(root, projectFile), { follow: false });
}

/** `text`: current content of pai.json. Throws config_invalid if others may write the trust file. */
export function trustOf(places: Places, root: string, text: string): Trust {
  return compare(places, "roots", root, digest(text));
}

/** Trust in a project's commands and skills, by their hash. */
export function promptTrustOf(places: Places, root: string, hash: string): Trust {
  return compare(places, "prompts", root, hash);
}

function compare(places: Places, kind: Kind, root: string, hash: string): Trust {
  const known = places.stateDir === null ? undefined : readHashes(fileIn(places.stateDir))[kind].get(root);
  if (known === undefined) return "untrusted";
  return known === hash ? "trusted" : "changed";
}

/** Settings and prompts are trusted separately. */
const kinds = ["roots", "prompts"] as const;
type Kind = (typeof kinds)[number];
type Hashes = Readonly<Record<Kind, Map<string, string>>>;

/**
 * Trusts the current content of `root`'s pai.json. Throws config_invalid if there is none (null) or no folder to record
 * it.
 */
export function trustProject(places: Places, root: string, text: string | null = readProjectFile(root)): void {
  if (text === null) {
    const missing = `no ${projectFile}, and no commands or skills in .pai`;
    throw new PaiError("config_invalid", `there is nothing to trust in ${root}: ${missing}`);
  }
  change(places, ({ roots }) => roots.set(root, digest(text)));
}

/** Trusts commands and skills with this hash. Throws config_invalid if there is no folder to record it. */
export function trustPrompts(places: Places, root: string, hash: string): void {
  change(places, ({ prompts }) => prompts.set(root, hash));
}

/** Returns whether there was trust to revoke. */
export function revokeTrust(places: Places, root: string): boolean {
  let had = false;
  change(places, (hashes) => {
    for (const kind of kinds) had = hashes[kind].delete(root) || had;
  });
  return had;
}

function change(places: Places, edit: (hashes: Hashes) => void): void {
  if (places.stateDir === null) {
    throw new PaiError("config_invalid", "no state folder to keep trust in", {
      hint: "set HOME or PAI_STATE_DIR",
    });
  }
  const file = fileIn(places.stateDir);
  withLock(file, () => {
    const hashes = readHashes(file);
    edit(hashes);
    const written = Object.fromEntries(kinds.map((kind) => [kind, Object.fromEntries(hashes[kind])]));
    writePrivate(file, `${JSON.stringify({ version: 1, ...written }, null, 2)}\n`);
  });
}

/** A file that cannot be read grants no trust. */
function readHashes(file: string): Hashes {
  const text = readPrivate(file);
  let written: { readonly [kind in Kind]?: unknown } | null = null;
  try {
    written = text === null ? null : (JSON.parse(text) as typeof written);
  } catch {}
  const readKind = (kind: Kind): Map<string, string> => {
    const found = written?.[kind];
    const entries = typeof found === "object" && found !== null ? Object.entries(found) : [];
    return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  };
  return { roots: readKind("roots"), prompts: readKind("prompts") };
}

const fileIn = (stateDir: string): string => join(stateDir, "trust.json");
