/** The mounts that a process sees. */
import { textOfSystem } from "../../system/lookups.ts";

export interface Mount {
  /** Number of the file system, `major:minor`. */
  readonly device: string;
  /** The folder within the file system that is mounted. */
  readonly root: string;
  readonly point: string;
}

/** In mount order; empty for a process that has ended or whose mounts cannot be read. */
export function readMounts(process: number | "self"): readonly Mount[] {
  return textOfSystem(`/proc/${process}/mountinfo`)
    .split("\n")
    .flatMap((line) => {
      const [, , device, root, point] = line.split(" ");
      return device === undefined || root === undefined || point === undefined
        ? []
        : [{ device, root: plain(root), point: plain(point) }];
    });
}

/** The paths, below the root of the file system, at which something is mounted; in a container that may be single files. */
export const mountPoints = (): ReadonlySet<string> => new Set(readMounts("self").map(({ point }) => point));

const plain = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

const isAtOrBelow = (path: string, folder: string) =>
  path === folder || folder === "/" || path.startsWith(`${folder}/`);

const below = (path: string, folder: string) => (folder === "/" ? path : path.slice(folder.length));

/** Where a path in another process's mounts is found in ours: nowhere, or in several places. */
export function translatePath(path: string, theirs: readonly Mount[], ours: readonly Mount[]): readonly string[] {
  const deepest = theirs.reduce<Mount | null>(
    (best, each) => (isAtOrBelow(path, each.point) && each.point.length >= (best?.point.length ?? 0) ? each : best),
    null,
  );
  if (deepest === null) return [];
  const inside = join(deepest.root, below(path, deepest.point));
  return ours
    .filter(({ device, root }) => device === deepest.device && isAtOrBelow(inside, root))
    .map(({ root, point }) => join(point, below(inside, root)));
}

const join = (folder: string, rest: string): string => (folder === "/" && rest !== "" ? rest : `${folder}${rest}`);

/** Mount points below a folder, without those below another of them; includes covered ones. */
export function findSubmounts(folder: string): readonly string[] {
  const points = readMounts("self")
    .map(({ point }) => point)
    .filter((path) => path.startsWith(`${folder}/`));
  return [...new Set(points)].filter((path) => !points.some((other) => path.startsWith(`${other}/`)));
}
