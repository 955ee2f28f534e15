/** Who a file belongs to: the system itself, or somebody. */
import type { Stats } from "node:fs";
import { textOfSystem } from "./lookups.ts";

let found: number | null | undefined;

/**
 * The user id under which everybody is seen who has no name in this user namespace; null: all have one. Where the
 * machine's root has none (rootless containers, bubblewrap), the system's files are seen under this id.
 */
export function strangerId(): number | null {
  if (found === undefined) found = findStrangerId();
  return found;
}

function findStrangerId(): number | null {
  const map = textOfSystem("/proc/self/uid_map").trim();
  const id = Number(textOfSystem("/proc/sys/kernel/overflowuid").trim() || Number.NaN);
  if (map === "" || Number.isNaN(id)) return null;
  const isNamed = map.split("\n").some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return id >= first && id < first + count;
  });
  return isNamed ? null : id;
}

/** Whether a file belongs to the system: to root, or to somebody without a name here, who may well be root. */
export const isOfSystem = ({ uid }: Pick<Stats, "uid">): boolean => uid === 0 || uid === strangerId();
