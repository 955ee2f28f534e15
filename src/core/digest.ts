/** The hash that identifies a content. */

/** SHA-256 in hexadecimal digits. Not by `node:crypto`, whose loading takes half as long as an empty program. */
export const digest = (data: string | Uint8Array): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");
