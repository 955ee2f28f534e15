/** How much of one file a model is shown at once; of a larger one it reads ranges. */

/** In bytes. */
export const mostShown = 256 * 1024;
