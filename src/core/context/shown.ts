/** The most of one file that a model is shown at once; it reads a larger file in ranges. */

/** In bytes. */
export const maxShown = 256 * 1024;
/** Characters up to which a file that is changed is shown whole. */
export const maxWhole = 24_000;
/** Lines of one READ. */
export const maxReadLines = 2000;

/** Characters of a token, to be safe. */
const perToken = 3;
/** Share of a window that the results of one reply may take: they stay whole until the model has seen them. */
const resultShare = 0.25;

/** Characters that the results of one reply may have together, for a model that holds so many tokens. */
export const roomOf = (window: number): number => Math.floor(window * perToken * resultShare);
