/** When hot code is compiled. */

/** How many times as late as usual code is compiled once long work begins. */
const scale = 8;

/**
 * Has hot code compiled sooner from now on. pai starts with late compilation, since most runs are short (see
 * scripts/compile.ts); thousands of files or a long reply are worth it.
 */
export const compileSoon = (): void => Bun.unsafe.setJITPolicy(scale);
