/** `!command` in a session: the person's own command, its output shown and offered to the next message. */
import { PaiError } from "../core/error.ts";
import { visible } from "../ui/sanitize.ts";
import { makeRunId } from "./compose.ts";
import { type Talk, whileInterruptible } from "./talk.ts";

/** Characters of output that go with the next message. */
const mostOffered = 50_000;

/** Runs it as the person would: own environment less secrets. What it changes can be taken back with /undo. */
export async function runOwn(talk: Talk, command: string): Promise<void> {
  const { context, composed } = talk;
  if (command === "") {
    context.err(talk.offered === null ? "! runs a command: !git status\n" : "the output is not sent\n");
    talk.offered = null;
    return;
  }
  const { workspace } = composed.opened;
  const result = await whileInterruptible(talk, async (signal) => {
    const transaction = await workspace.begin({ id: makeRunId(context.now()), task: `!${command}` });
    try {
      const timeoutMs = composed.base.settings.commands.timeout * 1000;
      const ran = await transaction.run(command, { by: "user", timeoutMs, signal });
      if (signal.aborted) throw new PaiError("interrupted", "interrupted");
      return ran;
    } finally {
      await transaction.close();
    }
  });
  const output = visible(result.output).trimEnd();
  if (output !== "") context.out(`${output}\n`);
  const ended = result.timedOut ? "ended by the time limit" : `exit ${result.exit ?? "by a signal"}`;
  const changed = result.changes.length === 0 ? "" : `, ${result.changes.length} changed: /undo takes them back`;
  talk.offered = `$ ${command}\n${result.output.slice(-mostOffered)}\n(${ended})`;
  context.err(
    talk.view.style.paint("dim", `${ended}${changed}; goes with your next message, ! alone drops it`).concat("\n"),
  );
}
