/** The file that `-o` names: judged before anything is paid for. */
import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { PaiError } from "../core/error.ts";

/** Where to write, a link followed. Throws io_failed where no file can stand: devices, pipes, folders that are not there. */
export function findOutput(file: string): string {
  const folder = dirname(file);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new PaiError("io_failed", `${file} cannot be saved: ${folder} is no folder`);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return file;
  if (!found.isFile()) throw new PaiError("io_failed", `${file} is no regular file; nothing can be saved there`);
  return realpathSync(file);
}
