/** What a file has besides content and permission bits: owner, user attributes, access lists. */

import { lchownSync, lstatSync } from "node:fs";
import { orNull } from "../core/error.ts";
import type { Stat } from "./system/stat.ts";
import { systemCalls } from "./system/system-calls.ts";

export interface Traits {
  readonly uid: number;
  readonly gid: number;
  /** `user.*` attributes and access lists by name; values in base64. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** What the system grants a file, like capabilities and labels, is never copied. */
const isKept = (name: string) => name.startsWith("user.") || name.startsWith("system.posix_acl_");

/** `path` is real, as from `withParent`. Without FFI there are no attributes. */
export function readTraits(path: string, { uid, gid, kind }: Stat): Traits {
  const calls = kind === "file" || kind === "folder" ? systemCalls() : null;
  const attributes: Record<string, string> = {};
  for (const name of calls?.listAttributes(path).filter(isKept) ?? []) {
    const value = calls?.readAttribute(path, name);
    if (value) attributes[name] = Buffer.from(value).toString("base64");
  }
  return { uid, gid, attributes };
}

function keepGroup(path: string, gid: number): void {
  if (orNull(() => lstatSync(path))?.gid !== gid) orNull(() => lchownSync(path, process.geteuid?.() ?? -1, gid));
}

/** Sets exactly these; inherited ones are removed. Only root changes the owner. */
export function writeTraits(path: string, { uid, gid, attributes }: Traits): void {
  if (process.geteuid?.() === 0) lchownSync(path, uid, gid);
  else keepGroup(path, gid);
  const calls = systemCalls();
  for (const name of calls?.listAttributes(path).filter(isKept) ?? [])
    if (attributes[name] === undefined) calls?.removeAttribute(path, name);
  for (const [name, value] of Object.entries(attributes))
    calls?.writeAttribute(path, name, Buffer.from(value, "base64"));
}
