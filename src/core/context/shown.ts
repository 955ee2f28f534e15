/** Limits on how much of one file a model is shown at once; it reads a larger file in ranges. */

export const maxShown = 256 * 1024;
/** Characters of all files that are to be changed: as many are shown whole. */
export const maxOfFiles = 100_000;
/** Characters of the parts of one file that does not fit whole. */
export const maxOfParts = 40_000;
/** Up to this many characters, tests and papers beside source are shown whole. */
export const maxWhole = 12_000;
export const maxReadLines = 2000;

/** Characters of what is piped in, for a model with a large window. */
export const maxPiped = 200_000;

/** Characters of a token, a careful estimate. */
const perToken = 3;
/** Share of a window that the results of one reply may take: they stay whole until the model has seen them. */
const resultShare = 0.25;

/** Characters that the results of one reply may have together. `window`: tokens that the model can hold. */
export const roomOf = (window: number): number => Math.floor(window * perToken * resultShare);
