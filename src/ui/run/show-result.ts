/** Shows how a run ended: the message and the result on standard output, and how to take it back. */
import type { Outcome } from "../../core/outcome.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { wrap } from "../layout.ts";
import type { MarkdownOptions } from "../markdown.ts";
import { visible } from "../sanitize.ts";
import { renderFooter, renderResult } from "./render-outcome.ts";
import { renderAnswer } from "./reply.ts";
import type { Streams } from "./streams.ts";

export interface ResultState {
  /** Whether the run itself was shown on the same screen: what it showed is not said again. */
  readonly seen: boolean;
  /** Whether notices were shown, on whichever stream. */
  readonly noted: boolean;
  /** Whether a session goes on: then /undo is named beside pai undo. */
  readonly session: boolean;
  /** Whether the changes can be taken back later. */
  readonly undoable: boolean;
  /** Milliseconds that pai worked. */
  readonly ms: number;
  readonly applied: boolean;
  readonly undone: boolean;
  /** The reply that the screen shows already; "" for none. */
  readonly replied: string;
  /** How Markdown is rendered on standard output; null: it is shown as it is. */
  readonly markdown: MarkdownOptions | null;
}

/**
 * Prints the message: of a run that went well to standard output, of one that failed to standard error as what the model
 * said. Nothing when the screen shows it already, or eight-step failed: its error says the same. True: standard
 * output has it.
 */
function showMessage(outcome: Outcome, streams: Streams, { replied, markdown }: ResultState): boolean {
  const { mode, text, error, actions } = outcome;
  // A check that fails beside an answer takes nothing from the answer.
  const ok = outcome.ok || (error?.code === "check_failed" && actions.done + actions.failed + actions.refused === 0);
  if (text === "" || replied === text || (!ok && mode === "eight-step")) return false;
  if (ok) streams.out(renderAnswer(text, streams.outColumns, markdown));
  else streams.say(wrap(visible(`The model said: ${maskSecrets(text)}`), streams.columns));
  return ok;
}

/** Printed to standard output after the message, with the footer between result and undo. */
export function showOutcome(outcome: Outcome, streams: Streams, state: ResultState): void {
  const { screen, out, aside, section, outStyle, outColumns } = streams;
  const { seen, noted, session, applied } = state;
  section();
  const told = showMessage(outcome, streams, state);
  section();
  const result = renderResult(outcome, { style: outStyle, columns: outColumns, applied, screen: seen, noted, session });
  out(!screen && result !== "" && told ? `\n${result}` : result);
  section();
  if (outcome.calls.made > 0) aside(renderFooter(outcome, state.ms));
  if (!state.undoable || outcome.run === null) return;
  if (applied) out(`undo with: pai undo${session ? ", here: /undo" : ""}\n`);
  else if (state.undone) out(`bring its changes back with: ${session ? "/redo" : "pai redo"} ${outcome.run}\n`);
}
