/** The mounts that a process sees. */
import { join } from "node:path";
import { pathWithin } from "../../core/path.ts";
import { textOfSystem } from "../../system/lookups.ts";
import { contains, outermost } from "./folders.ts";

export interface Mount {
  /** `major:minor`. */
  readonly device: string;
  /** Within the file system. */
  readonly root: string;
  readonly point: string;
}

/** In mount order; empty where they cannot be read. */
export function readMounts(process: number | "self"): readonly Mount[] {
  return textOfSystem(`/proc/${process}/mountinfo`)
    .split("\n")
    .flatMap((line) => {
      const [, , device, root, point] = line.split(" ");
      return device === undefined || root === undefined || point === undefined
        ? []
        : [{ device, root: unescapeMount(root), point: unescapeMount(point) }];
    });
}

/** In a container they may be single files. */
export const mountPoints = (): ReadonlySet<string> => new Set(readMounts("self").map(({ point }) => point));

/** From the spelling of the kernel's tables. */
export const unescapeMount = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** Where a path in other mounts is found in ours: nowhere, or in several places. */
export function translatePath(path: string, theirs: readonly Mount[], ours: readonly Mount[]): readonly string[] {
  const isIn = ({ point }: Mount) => pathWithin(path, point) !== null;
  const deepest = theirs
    .filter(isIn)
    .reduce<Mount | null>((best, each) => (each.point.length >= (best?.point.length ?? 0) ? each : best), null);
  if (deepest === null) return [];
  const inside = join(deepest.root, pathWithin(path, deepest.point) ?? "");
  return ours.flatMap(({ device, root, point }) => {
    const below = device === deepest.device ? pathWithin(inside, root) : null;
    return below === null ? [] : [join(point, below)];
  });
}

export function findSubmounts(folder: string): readonly string[] {
  const isBelow = (point: string) => point !== folder && contains(folder, point);
  return outermost([...mountPoints()].filter(isBelow));
}
