/** Turns a path that a model or a user wrote into a RelPath, or says why it is not one; touches no file. */
import { PaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";

const maxPartBytes = 255;
const maxPathBytes = 4000;
const maxParts = 64;

const invisible = /\p{Cc}|\p{Cf}|[\u2028\u2029]|[\ud800-\udfff]/gu;

/** A name as it is shown to people: control and invisible characters as \u{…}. */
export const showName = (text: string): string =>
  text.replace(invisible, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);

/**
 * Of a path below the root, or one of its spellings `roots`; nothing in it is expanded. `folder`: it must be one, as it is
 * written with a trailing `/` or `/.`. Throws path_refused.
 */
export function parsePath(written: string, roots: readonly string[] = []): { path: RelPath; folder: boolean } {
  const text = withoutRoot(written, roots);
  const refuse = (why: string, hint?: string): never => {
    throw new PaiError("path_refused", `"${showName(written.slice(0, 200))}" ${why}`, { hint });
  };
  if (!text.isWellFormed()) refuse("is not well-formed text");
  if (/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(text)) refuse("contains a control character");
  if (/^[a-z]:[\\/]/i.test(text)) refuse("names a drive", "write it relative to the root");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) refuse("is an address, not a path", "write it relative to the root");
  if (text.includes("\\")) refuse("contains a backslash", "separate folders with /");
  if (text.startsWith("/")) refuse("is absolute", "what lies outside the root is opened with --also FOLDER");

  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  const above = "what lies above the root is opened with --also FOLDER, and written as an absolute path";
  if (parts.includes("..")) refuse('leads upwards with ".."', above);
  if (parts.length > maxParts) refuse(`is more than ${maxParts} folders deep`);
  if (parts.some((part) => Buffer.byteLength(part) > maxPartBytes))
    refuse(`contains a name of more than ${maxPartBytes} bytes`);
  const path = parts.join("/");
  if (Buffer.byteLength(path) > maxPathBytes) refuse(`is longer than ${maxPathBytes} bytes`);
  return { path: path as RelPath, folder: path === "" || /\/\.?$/.test(text) };
}

/** A path that pai found and recorded, with any name. Throws path_refused if it leads out of the root. */
export function parseKept(text: string): RelPath {
  const parts = text.replace(/^\//, "").split("/");
  if (!text.includes("\0") && !parts.some((part) => ["", ".", ".."].includes(part))) return text as RelPath;
  throw new PaiError("path_refused", `"${showName(text.slice(0, 200))}" is not a path below the root`);
}

function withoutRoot(text: string, roots: readonly string[]): string {
  for (const root of text.startsWith("/") ? roots : []) {
    if (text === root) return ".";
    const folder = root.endsWith("/") ? root : `${root}/`;
    // After the root there must be a relative path: //etc is not below /.
    if (text.startsWith(folder)) return text.startsWith("/", folder.length) ? text : text.slice(folder.length) || ".";
  }
  return text;
}
