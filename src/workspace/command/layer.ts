/** Reads entries of an overlay's upper layer and of the workspace below it. */
import { readdirSync, type Stats } from "node:fs";
import type { RelPath } from "../../core/path.ts";
import type { Root } from "../confine.ts";
import { systemCalls } from "../system/system-calls.ts";

/** Whether an entry of an upper layer marks the path as deleted (a character device 0:0). */
export const isDeletion = (stat: Stats): boolean => stat.isCharacterDevice() && stat.rdev === 0;

/** Whether a folder of an upper layer hides the workspace's content at its path. */
export function isOpaqueFolder(path: string): boolean {
  const value = systemCalls()?.readAttribute(path, "user.overlay.opaque") ?? null;
  return value !== null && /^[xy]$/.test(Buffer.from(value).toString("latin1"));
}

/** Names in a folder of the workspace; none if the folder is missing. */
export function namesIn(root: Root, folder: RelPath): readonly string[] {
  try {
    return root.withFolder(folder, (at) => readdirSync(`${at}/`)) ?? [];
  } catch {
    return [];
  }
}
