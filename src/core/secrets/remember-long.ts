/** Remembers what a search found in the last long texts: one reply goes to the screen, the receipt, the log and the outcome. Pure. */

/** Shorter texts are searched sooner than they are compared; longer ones would be held in memory for too long. In characters. */
const least = 32_768;
const most = 4_194_304;
const kept = 2;

export interface Remembered<T> {
  /** What `search` says of this text. */
  (text: string): T;
  /** The search has changed. */
  readonly forget: () => void;
}

export function rememberLong<T>(search: (text: string) => T): Remembered<T> {
  let answers: readonly { readonly text: string; readonly answer: T }[] = [];
  const find = (text: string): T => {
    if (text.length < least || text.length > most) return search(text);
    const found = answers.find((each) => each.text === text);
    if (found !== undefined) return found.answer;
    const answer = search(text);
    answers = [{ text, answer }, ...answers.slice(0, kept - 1)];
    return answer;
  };
  return Object.assign(find, {
    forget() {
      if (answers.length > 0) answers = [];
    },
  });
}
