/** Shows the end of a run: message and result on standard output, and how to undo it. */
import type { Outcome } from "../../core/outcome.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { wrap } from "../layout.ts";
import type { MarkdownOptions } from "../markdown.ts";
import { visible } from "../sanitize.ts";
import { renderFooter, renderResult } from "./render-outcome.ts";
import { renderAnswer } from "./reply.ts";
import type { Streams } from "./streams.ts";

export interface ResultState {
  /** Whether the run was shown on the same screen, so that nothing is repeated. */
  readonly seen: boolean;
  /** Whether notices were shown, on either stream. */
  readonly noted: boolean;
  /** Whether a session continues, so that /undo is named too. */
  readonly session: boolean;
  /** Whether the changes can be undone later. */
  readonly undoable: boolean;
  /** Time that pai worked, in milliseconds. */
  readonly ms: number;
  readonly applied: boolean;
  readonly undone: boolean;
  /** The reply that is already on the screen; "" for none. */
  readonly replied: string;
  /** How Markdown is rendered on standard output; null: it stays as it is. */
  readonly markdown: MarkdownOptions | null;
}

/**
 * Prints the message: of a successful run to standard output, of a failed one to standard error as the model's words.
 * Prints nothing if the screen shows it already, or if eight-step failed, whose error says the same. Returns whether it
 * went to standard output.
 */
function showMessage(outcome: Outcome, streams: Streams, { replied, markdown }: ResultState): boolean {
  const { mode, text, error, actions } = outcome;
  // A failed check does not invalidate an answer without actions.
  const ok = outcome.ok || (error?.code === "check_failed" && actions.done + actions.failed + actions.refused === 0);
  if (text === "" || replied === text || (!ok && mode === "eight-step")) return false;
  if (ok) streams.out(renderAnswer(text, streams.outColumns, markdown));
  else streams.say(wrap(visible(`The model said: ${maskSecrets(text)}`), streams.columns));
  return ok;
}

/** Prints the result after the message, and the footer between the result and the undo hint. */
export function showOutcome(outcome: Outcome, streams: Streams, state: ResultState): void {
  const { screen, out, aside, section, outStyle, outColumns } = streams;
  const { seen, noted, session, applied } = state;
  section();
  const hasMessage = showMessage(outcome, streams, state);
  section();
  const result = renderResult(outcome, { style: outStyle, columns: outColumns, applied, screen: seen, noted, session });
  out(!screen && result !== "" && hasMessage ? `\n${result}` : result);
  section();
  if (outcome.calls.made > 0) aside(renderFooter(outcome, state.ms));
  if (!state.undoable || outcome.run === null) return;
  if (applied) out(`undo with: pai undo${session ? ", here: /undo" : ""}\n`);
  else if (state.undone) out(`bring its changes back with: ${session ? "/redo" : "pai redo"} ${outcome.run}\n`);
}
