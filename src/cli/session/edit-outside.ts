/** Ctrl+X Ctrl+E: the message in the person's own editor, in a private file that is gone afterwards. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PaiError } from "../../core/error.ts";
import { pathOutside } from "../../workspace/system/search-path.ts";
import type { Context } from "../command.ts";

const usual = ["editor", "nano", "vi"] as const;

/** As the shell reads it: VISUAL, EDITOR, or what is usual here. Throws failed where there is none. */
function findEditor(env: Context["env"], path: string): string {
  const named = [env["VISUAL"], env["EDITOR"]].find((text) => (text ?? "").trim() !== "");
  const found = named ?? usual.find((name) => Bun.which(name, { PATH: path }) !== null);
  if (found === undefined)
    throw new PaiError("failed", "no editor was found", { hint: "set EDITOR, such as EDITOR=vi" });
  return found;
}

/**
 * The text as it was saved, without the line feed at its end. Throws failed when the editor fails: the message stays as
 * it was. `root`: programs of the project are not the person's own.
 */
export async function editOutside({ env, onInterrupt }: Context, root: string, text: string): Promise<string> {
  const path = pathOutside(env["PATH"], root);
  const editor = findEditor(env, path);
  const folder = mkdtempSync(join(tmpdir(), "pai-message-"));
  const file = join(folder, "message.md");
  // Ctrl+C belongs to the editor.
  onInterrupt(() => {});
  try {
    writeFileSync(file, text === "" ? "" : `${text}\n`, { mode: 0o600 });
    const argv = ["/bin/sh", "-c", `${editor} "$1"`, "pai", file];
    const child = Bun.spawn(argv, {
      env: { ...env, PATH: path },
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    });
    const exit = await child.exited;
    if (exit !== 0) throw new PaiError("failed", `${editor} ended with ${exit}; the message is as it was`);
    return new TextDecoder("utf-8", { fatal: true })
      .decode(readFileSync(file))
      .replace(/\r\n?/g, "\n")
      .replace(/\n+$/, "");
  } catch (thrown) {
    if (thrown instanceof PaiError) throw thrown;
    throw new PaiError("failed", `what the editor left cannot be read; the message is as it was`, { cause: thrown });
  } finally {
    onInterrupt(null);
    rmSync(folder, { recursive: true, force: true });
  }
}
