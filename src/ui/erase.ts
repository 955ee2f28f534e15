/** Terminal codes that erase what was drawn, without leaving it in the history. */

/**
 * Erases from the start of the cursor's row. First the row itself, as tmux would otherwise treat it as wrapped. Then
 * everything below, starting at the second column: if a screen is erased from its corner, tmux moves it into its
 * history.
 */
export const eraseFromRow = "\r\x1b[K \x1b[J\r";
