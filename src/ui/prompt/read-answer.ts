/** Interprets a typed answer. Pure, so that tests can show that no question is answered by accident. */

export type Answer =
  | "yes"
  | "no"
  | "always"
  | "review"
  | "show"
  | "help"
  | "again"
  | "unsure"
  | { readonly feedback: string };

const yes = new Set(["y", "yes", "ya", "ok", "oke", "lanjut"]);
const no = new Set(["n", "no", "tidak", "batal"]);
/** A yes with more words that say nothing. */
const plainYes =
  /^(?:y|yes|yeah|yep|ya|ok|okay|oke|sure|lanjut)(?:[\s,.!]+(?:please|go|ahead|on|do|it|that|thanks?|thank|you|fine|great|good|perfect|yes|ok|okay|proceed|continue|silakan|saja))*[\s.!]*$/i;
const goOn = new Set(["y", "ya", "yes", "ok", "oke", "go", "lanjut", "continue", "proceed"]);

/**
 * Interprets the answer to a question. `text` null: end of input, which means no. `feedback` false: only yes or no are
 * valid. `always`: `a` is valid too; `review`: `d` is a yes, else it shows the question again. "again" and "unsure" (a yes
 * with words that add nothing): ask once more.
 */
export function readAnswer(
  text: string | null,
  {
    feedback,
    always = false,
    review = false,
  }: { readonly feedback: boolean; readonly always?: boolean; readonly review?: boolean },
): Answer {
  if (text === null) return "no";
  const said = text.trim();
  const word = said.toLowerCase();
  if (yes.has(word)) return "yes";
  if (no.has(word)) return "no";
  if (always && word === "a") return "always";
  if (word === "d") return review ? "review" : "show";
  if (word === "?") return "help";
  if (plainYes.test(said)) return "unsure";
  if (!feedback) return "again";
  const marked = /^f\s+(\S.*)$/is.exec(said)?.[1];
  if (marked !== undefined) return { feedback: marked };
  return /\S\s+\S/.test(said) ? { feedback: said } : "again";
}

/** Whether a message means no, while something waits for a yes. */
export function isNo(text: string): boolean {
  return no.has(text.trim().toLowerCase());
}

/** Whether a message asks to run the pending next steps. */
export function isContinue(text: string): boolean {
  return goOn.has(text.trim().toLowerCase());
}
