/** Words for a shell. Pure. */

/** The text as one word of sh, bash or zsh: in single quotes. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
