/** Remembers search results of the last long texts: screen, receipt, log and outcome search the same reply. Pure. */

/** In characters. Searching a shorter text is quicker than comparing it; a longer one would hold too much memory. */
const minChars = 32_768;
const maxChars = 4_194_304;
const maxRemembered = 2;

export interface Remembered<T> {
  /** The search result for this text. */
  in(text: string): T;
  /** To be called when the search changes. */
  forget(): void;
}

export function rememberLong<T>(search: (text: string) => T): Remembered<T> {
  let answers: readonly { readonly text: string; readonly answer: T }[] = [];
  return {
    in(text) {
      if (text.length < minChars || text.length > maxChars) return search(text);
      const found = answers.find((each) => each.text === text);
      if (found !== undefined) return found.answer;
      const answer = search(text);
      answers = [{ text, answer }, ...answers.slice(0, maxRemembered - 1)];
      return answer;
    },
    forget() {
      if (answers.length > 0) answers = [];
    },
  };
}
