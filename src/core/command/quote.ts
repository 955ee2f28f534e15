/** Words for a shell. Pure. */

/** The text as one word of sh, bash or zsh: in single quotes. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The flag that allows to change a path, as people type it. */
export const spellAllow = (path: string): string =>
  `--allow ${/^[\w./@%+,:=-]+$/.test(path) ? path : quoteForShell(path)}`;
