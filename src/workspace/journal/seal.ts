/** Seals journal lines with a key that only the user can read, which proves that pai wrote them. */
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryName } from "../atomic-write.ts";
import type { Disk } from "../system/disk.ts";

/** Part of each seal: records of another format count as foreign, before anything in them is judged. */
const format = 2;
const keyBytes = 32;
const sealedCharacters = 22;

/** Returns the seal of a line. */
export type Seal = (text: string) => string;

/** The state folder of one workspace. */
interface Sealed {
  readonly folder: string;
  readonly disk: Disk;
}

const keyOf = ({ folder }: Sealed) => join(folder, "seal");
const known = new WeakMap<Sealed, Buffer>();

/** null: there is no key, or other users could have written it. */
function readKey(state: Sealed): Buffer | null {
  const stat = lstatSync(keyOf(state), { throwIfNoEntry: false });
  const isOwn = stat?.isFile() === true && stat.uid === process.geteuid?.() && (stat.mode & 0o022) === 0;
  return isOwn && stat.size === keyBytes ? readFileSync(keyOf(state)) : null;
}

/** Makes a key if there is none to trust. Lines sealed with an earlier key count as foreign from then on. */
export function prepareSeal(state: Sealed): void {
  if (readKey(state) !== null) return;
  const { disk } = state;
  const path = keyOf(state);
  const temporary = `${path}-${temporaryName()}`;
  disk.createFile(temporary, crypto.getRandomValues(new Uint8Array(keyBytes)), 0o600, null, Date.now() / 1000);
  try {
    takeName(state, path, temporary);
  } finally {
    if (lstatSync(temporary, { throwIfNoEntry: false }) !== undefined) disk.removeFile(temporary);
  }
  disk.syncFolder(state.folder);
  known.delete(state);
}

/** If another pai was faster, its key stays, since it has used it already. */
function takeName(state: Sealed, path: string, temporary: string): void {
  const { disk } = state;
  try {
    if (disk.renameNew(path, temporary)) return;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  }
  if (readKey(state) === null) disk.rename(path, temporary);
}

/** The seal for the records of one run, valid for no other; null: there is no key, so nothing is sealed. */
export function openSeal(state: Sealed, id: string): Seal | null {
  const key = known.get(state) ?? readKey(state);
  if (key === null) return null;
  known.set(state, key);
  return (text) =>
    new Bun.CryptoHasher("sha256", key)
      .update(`${format}\n${id}\n${text}`)
      .digest("base64url")
      .slice(0, sealedCharacters);
}
