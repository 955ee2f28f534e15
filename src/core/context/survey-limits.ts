/** Limits of the search through a project, and which of its texts count as written by people. Pure. */

export const surveyLimits = {
  entries: 200_000,
  /** Larger files are ranked by their names alone. */
  fileBytes: 1024 * 1024,
  /** Mean length of a line above which a file is not a source: minified, or data. */
  meanLine: 400,
  /** In a project of at most this many files, the history is not worth a child process. */
  filesWithoutHistory: 40,
  /** A project of more files is not shown whole. */
  wholeFiles: 60,
  /** Characters that showing a file takes besides its text. */
  fileCost: 60,
} as const;

/** Whether people wrote a text: generated texts and data have long lines. */
export function isWritten(text: string): boolean {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.length / lines <= surveyLimits.meanLine;
}
