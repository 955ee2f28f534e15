/** The user's own programs in a session: `!command` with its output, and the editor of Ctrl+X Ctrl+E. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PaiError, toPaiError } from "../../core/error.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { pathOutside } from "../../system/lookups.ts";
import { counted } from "../../ui/amount.ts";
import { wrap } from "../../ui/layout.ts";
import { createSpinner, lastLines } from "../../ui/run/spinner.ts";
import { visible } from "../../ui/sanitize.ts";
import { columnsOf } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { makeRunId } from "../compose/options.ts";
import { type Talk, tell, whileInterruptible } from "./talk.ts";

/** Characters of the output that the next message may include: its end. */
const maxOffered = 50_000;

/** The longest timer, as the user can press Ctrl+C. */
const noLimitMs = 2 ** 31 - 1;

/** Shows a spinner until the output appears at the end; none on a plain terminal. */
async function whileShown<T>(
  { context, view }: Talk,
  command: string,
  work: (onOutput: (lines: string) => void) => Promise<T>,
): Promise<T> {
  const { style } = view;
  if (style.plain) return work(() => {});
  const columns = () => columnsOf(context.env);
  const spinner = createSpinner({
    ...{ live: true, redraw: context.err, style, columns, now: () => performance.now() },
    ...{ say: context.err, note: "Esc stops", typed: view.typed },
  });
  spinner.start(`running ${command}`);
  return work((lines) => spinner.show(lastLines(lines))).finally(spinner.stop);
}

/** Runs the command with the user's environment, without secrets. /undo can undo its changes. */
export async function runOwn(talk: Talk, command: string): Promise<void> {
  const { context, composed } = talk;
  if (command === "") {
    const isWaiting = talk.open.session.pending.some(({ what }) => what === "command");
    tell(talk, "own_command", isWaiting ? "the output is not sent" : "! runs a command: !git status");
    if (isWaiting) talk.open.add({ type: "session.withheld", at: context.now().toISOString() });
    return;
  }
  const { workspace } = composed.opened;
  const { result, ended } = await whileInterruptible(talk, async (signal) => {
    const transaction = await workspace.begin({ id: makeRunId(context.now()), task: `!${command}` });
    try {
      const options = { by: "user", sandbox: "none", timeoutMs: noLimitMs, signal } as const;
      const result = await whileShown(talk, command, (onOutput) => transaction.run(command, { ...options, onOutput }));
      const ended = signal.aborted ? toPaiError(signal.reason).message : `exit ${result.exit ?? "by a signal"}`;
      return { result, ended };
    } finally {
      await transaction.close();
    }
  });
  const output = visible(result.output).trimEnd();
  talk.outputs = [{ title: `$ ${command}`, text: result.output }];
  if (output !== "") context.out(`${output}\n`);
  // Secrets are hidden before the cut: half of one would not be recognised later.
  const hide = (said: string) => maskSecrets(composed.cover(said), "plain");
  const offered = hide(result.output).slice(-maxOffered);
  const text = `the user ran $ ${hide(command)} (${ended})${offered === "" ? "" : `\n${offered}`}`;
  talk.open.add({ type: "session.noted", at: context.now().toISOString(), what: "command", run: null, text });
  const several = result.effects.changes.length;
  const changed = `${counted(several, "path")} changed: /undo takes ${several === 1 ? "it" : "them"} back\n`;
  const note = `${several === 0 ? "" : changed}${ended}; goes with your next message, ! alone drops it`;
  context.err(`${talk.view.style.paint("dim", wrap(note, columnsOf(context.env)).join("\n"))}\n`);
}

const usual = ["editor", "nano", "vi"] as const;

function findEditor(env: Context["env"], path: string): string {
  const named = [env["VISUAL"], env["EDITOR"]].find((text) => (text ?? "").trim() !== "");
  const found = named ?? usual.find((name) => Bun.which(name, { PATH: path }) !== null);
  if (found === undefined)
    throw new PaiError("failed", "no editor was found", { hint: "set EDITOR, such as EDITOR=vi" });
  return found;
}

/** The saved text; throws failed if the editor fails. `root`: programs in the project are not the user's own. */
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
