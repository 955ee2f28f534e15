/** What tells one content from another. */

/** SHA-256 in hexadecimal digits. The runtime's own: `node:crypto` takes longer to load than half of an empty program. */
export const digest = (data: string | Uint8Array): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");
