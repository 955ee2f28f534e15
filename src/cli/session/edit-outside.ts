/** Ctrl+X Ctrl+E: edits the message in the user's editor, in a private temporary file. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PaiError } from "../../core/error.ts";
import { pathOutside } from "../../workspace/system/search-path.ts";
import type { Context } from "../command.ts";

const usual = ["editor", "nano", "vi"] as const;

/** The editor's command for the shell: VISUAL, EDITOR, or a usual one. Throws failed if there is none. */
function findEditor(env: Context["env"], path: string): string {
  const named = [env["VISUAL"], env["EDITOR"]].find((text) => (text ?? "").trim() !== "");
  const found = named ?? usual.find((name) => Bun.which(name, { PATH: path }) !== null);
  if (found === undefined)
    throw new PaiError("failed", "no editor was found", { hint: "set EDITOR, such as EDITOR=vi" });
  return found;
}

/**
 * The saved text without its final line feed. Throws failed if the editor fails, which leaves the message unchanged.
 * `root`: programs in the project are not the user's own.
 */
export async function editOutside({ env, onInterrupt }: Context, root: string, text: string): Promise<string> {
  const path = pathOutside(env["PATH"], root);
  const editor = findEditor(env, path);
  const folder = mkdtempSync(join(tmpdir(), "pai-message-"));
  const file = join(folder, "message.md");
  // Ctrl+C is for the editor.
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
    if (exit !== 0) throw new PaiError("failed", `${editor} ended with ${exit}; the message is unchanged`);
    return new TextDecoder("utf-8", { fatal: true })
      .decode(readFileSync(file))
      .replace(/\r\n?/g, "\n")
      .replace(/\n+$/, "");
  } catch (thrown) {
    if (thrown instanceof PaiError) throw thrown;
    throw new PaiError("failed", `the edited file cannot be read; the message is unchanged`, { cause: thrown });
  } finally {
    onInterrupt(null);
    rmSync(folder, { recursive: true, force: true });
  }
}
