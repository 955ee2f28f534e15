/** How far a project is looked through, and which of its texts count. Pure. */

export const surveyLimits = {
  entries: 200_000,
  /** Larger files are ranked by their names alone. */
  fileBytes: 1024 * 1024,
  /** Mean length of a line above which a file is not a source: minified, or data. */
  meanLine: 400,
  /** Up to so many files the history says nothing that is worth a child process. */
  filesWithoutHistory: 40,
  /** A project of more files is not shown whole. */
  wholeFiles: 60,
  /** Characters that each file that is shown costs beside its text. */
  fileCost: 60,
} as const;

/** Whether a text, all of it in lower case or not, is one that people write. */
export function isWritten(text: string): boolean {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.length / lines <= surveyLimits.meanLine;
}
