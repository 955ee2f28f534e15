/** A line of a private key, made so that no scanner takes a test for a leak. */

/** 64 characters of base64. */
export const keyLine = (seed: number): string =>
  Buffer.from(Array.from({ length: 48 }, (_, at) => (at * 37 + seed * 101) % 251)).toString("base64");
