/** Erasing what was drawn, so that no terminal keeps it. */

/**
 * Erases everything from the start of the cursor's row on. The row for itself, whole: tmux would still take it for wrapped.
 * Then all below, but not from the first column: tmux takes a screen that is erased from its corner into its history.
 */
export const eraseFromRow = "\r\x1b[K \x1b[J\r";
