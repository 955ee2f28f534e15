/** Words for a shell. Pure. */

/** The text as one word of sh, bash or zsh: in single quotes. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The path as people type it: in quotes only where a shell would read something else. */
export const spellForShell = (path: string): string => (/^[\w./@%+,:=-]+$/.test(path) ? path : quoteForShell(path));

export const spellAllow = (path: string): string => `--allow ${spellForShell(path)}`;
