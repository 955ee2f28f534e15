/** `!command` in a session: runs the user's own command, shows its output and offers it to the next message. */
import { toPaiError } from "../../core/error.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { counted } from "../../ui/amount.ts";
import { wrap } from "../../ui/layout.ts";
import { createSpinner } from "../../ui/run/spinner.ts";
import { visible } from "../../ui/sanitize.ts";
import { columnsOf } from "../columns.ts";
import { makeRunId } from "../compose/compose.ts";
import { offer, type Talk, tell, whileInterruptible } from "./talk.ts";

/** Characters of the output that the next message may include: its end. */
const maxOffered = 50_000;

/** The longest timer, as the user can press Ctrl+C. */
const noLimitMs = 2 ** 31 - 1;

/** Shows a spinner until the output appears at the end; none on a plain terminal. */
async function whileShown<T>({ context, view }: Talk, command: string, work: () => Promise<T>): Promise<T> {
  const { style } = view;
  if (style.plain) return work();
  const columns = () => columnsOf(context.env);
  const spinner = createSpinner({ err: context.err, style, columns, now: () => performance.now() });
  spinner.start(`running ${command} ${style.glyphs.dot} Ctrl+C stops`);
  return work().finally(spinner.stop);
}

/** Runs the command with the user's environment, without secrets. /undo can undo its changes. */
export async function runOwn(talk: Talk, command: string): Promise<void> {
  const { context, composed } = talk;
  if (command === "") {
    tell(talk, "own_command", talk.offered === null ? "! runs a command: !git status" : "the output is not sent");
    talk.offered = null;
    return;
  }
  const { workspace } = composed.opened;
  const { result, ended } = await whileInterruptible(talk, async (signal) => {
    const transaction = await workspace.begin({ id: makeRunId(context.now()), task: `!${command}` });
    try {
      const options = { by: "user", sandbox: "none", timeoutMs: noLimitMs, signal } as const;
      const result = await whileShown(talk, command, () => transaction.run(command, options));
      const ended = signal.aborted ? toPaiError(signal.reason).message : `exit ${result.exit ?? "by a signal"}`;
      return { result, ended };
    } finally {
      await transaction.close();
    }
  });
  const output = visible(result.output).trimEnd();
  if (output !== "") context.out(`${output}\n`);
  // Secrets in a message are hidden when it is sent, but half a secret is not recognised then.
  const isLong = result.output.length > maxOffered;
  const offered = isLong ? maskSecrets(composed.cover(result.output)).slice(-maxOffered) : result.output;
  offer(talk, `$ ${command}\n${offered}\n(${ended})`);
  const several = result.effects.changes.length;
  const changed = `${counted(several, "path")} changed: /undo takes ${several === 1 ? "it" : "them"} back\n`;
  const note = `${several === 0 ? "" : changed}${ended}; goes with your next message, ! alone drops it`;
  context.err(`${talk.view.style.paint("dim", wrap(note, columnsOf(context.env)).join("\n"))}\n`);
}
