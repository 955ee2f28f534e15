/** What this binary is; version and commit are compiled in. */

declare const PAI_VERSION: string | undefined;
declare const PAI_COMMIT: string | undefined;
declare const PAI_TARGET: string | undefined;
declare const PAI_PUBLIC_KEY: string | undefined;

export const version = typeof PAI_VERSION === "string" ? PAI_VERSION : "0.0.0-dev";
const commit = typeof PAI_COMMIT === "string" ? PAI_COMMIT : null;
const publicKey = typeof PAI_PUBLIC_KEY === "string" ? PAI_PUBLIC_KEY : null;
export const target = typeof PAI_TARGET === "string" ? PAI_TARGET : `${process.platform}-${process.arch}`;

export function renderVersion(json: boolean): string {
  if (!json) return `pai ${version}\n`;
  const data = { version, commit, target, runtime: `bun ${Bun.version}`, public_key: publicKey };
  return `${JSON.stringify({ v: 1, ok: true, command: "version", code: 0, data, notices: [], error: null })}\n`;
}
