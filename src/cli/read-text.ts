/** Reads a text file that the command line names. */
import { PaiError } from "../core/error.ts";

/** Throws usage, which names `what` it was to be: "task file". */
export async function readText(path: string, what: string): Promise<string> {
  try {
    return await Bun.file(path).text();
  } catch (cause) {
    throw new PaiError("usage", `the ${what} cannot be read: ${path}`, { cause });
  }
}
