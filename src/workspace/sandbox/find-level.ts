/** Finds the best way to confine commands that works here, and which optional parts of it do. */

import { hasBubblewrap, wrapInBubblewrap } from "./bubblewrap.ts";
import { type Confinement, isIsolated, type Way } from "./confinement.ts";
import type { SetupFailure } from "./launch.ts";
import { type Layers, makeLayers, removeLayers } from "./layers.ts";
import type { Machine } from "./machine-code.ts";
import { findLandlock } from "./memory-file.ts";
import { type Probed, probe } from "./probe.ts";
import { findReason, type Reason } from "./reasons.ts";

/** What was found to work. */
export interface FoundLevel {
  /** null: none works. */
  readonly way: Way | null;
  readonly userNamespace: boolean;
  readonly caches: boolean;
  /** Whether bubblewrap starts the tape as a file. */
  readonly asFile: boolean;
  readonly overlay: boolean;
  /** Folder for the layers of an overlay. */
  readonly scratch: string;
  /** Version of Landlock; 0: none. */
  readonly landlock: number;
  /** Why no better way works, a sentence each. */
  readonly reasons: readonly string[];
}

export interface LevelSearch {
  readonly machine: Machine;
  readonly isRoot: boolean;
  readonly workspaceFd: number;
  /** Folders for the layers of an overlay, best first: not every file system supports them. */
  readonly scratches: readonly [string, ...string[]];
  /** For tests: only this way. */
  readonly only: Way | undefined;
  readonly confine: (found: FoundLevel, way: Way, layers: Layers | null) => Confinement;
}

export const foundNothing = (...reasons: readonly string[]): FoundLevel => ({
  way: null,
  userNamespace: false,
  caches: false,
  asFile: false,
  overlay: false,
  scratch: "",
  landlock: 0,
  reasons,
});

export async function findLevel(search: LevelSearch): Promise<FoundLevel> {
  const { version: landlock, errno } = findLandlock();
  const [scratch] = search.scratches;
  const allowed = { userNamespace: !search.isRoot, caches: true, overlay: true, scratch };
  const all: FoundLevel = { ...foundNothing(), ...allowed, landlock };
  const failures: Failure[] = [];
  for (const way of search.only === undefined ? waysToTry() : [search.only]) {
    if (way === "landlock" && errno !== null) failures.push(failureOf(way, { step: "landlock_create_ruleset", errno }));
    else {
      const { found, missing } = await tryWay(search, way, { ...all, landlock: landlockFor(way, landlock) });
      failures.push(...missing);
      if (found !== null) return { ...found, reasons: tellAll(failures) };
    }
  }
  return { ...foundNothing(...tellAll(failures)), landlock };
}

/**
 * Landlock 1 (Linux 5.13 to 5.18) forbids moving files between folders. Ways that are protected by mounts do without
 * it, so that ordinary work succeeds.
 */
const landlockFor = (way: Way, version: number): number => (isIsolated(way) && version === 1 ? 0 : version);

function waysToTry(): readonly Way[] {
  return ["namespaces", ...(hasBubblewrap() ? (["bubblewrap"] as const) : []), "landlock"];
}

interface Failure extends Reason {
  readonly way: Way;
}

const failureOf = (way: Way, failure: SetupFailure): Failure => ({ way, ...findReason(failure) });

const names: Readonly<Record<Way, string>> = {
  namespaces: "full",
  bubblewrap: "full, by bubblewrap",
  landlock: "writes",
};

/** One sentence each; a remedy for several failures is named only once. */
function tellAll(failures: readonly Failure[]): readonly string[] {
  const named = new Set<string>();
  return failures.map(({ way, why, mend }) => {
    const isNew = mend !== null && !named.has(mend);
    if (isNew) named.add(mend);
    return `${names[way]}: ${why}${isNew ? `; ${mend}` : ""}`;
  });
}

/** Tries one way with fewer and fewer optional parts; if it works in the end, reports the missing ones. */
async function tryWay(search: LevelSearch, way: Way, all: FoundLevel) {
  const missing: Failure[] = [];
  let found = all;
  for (;;) {
    const result = await tryOnce(search, found, way);
    if (result.verdict === "holds") return { found: { ...found, way }, missing };
    const last = result.verdict === "leaks" ? { way, why: result.what, mend: null } : failureOf(way, result.failure);
    const less = result.verdict === "failed" ? withLess(found, way, result.failure.step, search) : null;
    if (less === null) return { found: null, missing: [last] };
    if (way === "namespaces" && less.scratch === found.scratch) missing.push(last);
    found = less;
  }
}

const layersFailed = "overlay of the workspace";

/** Leaves out the optional part that failed; null: it is not optional. */
function withLess(found: FoundLevel, way: Way, step: string, { isRoot, scratches }: LevelSearch): FoundLevel | null {
  if (way === "bubblewrap") return step === "bubblewrap" && !found.asFile ? { ...found, asFile: true } : null;
  if (way !== "namespaces") return null;
  if (found.overlay && step.startsWith("overlay")) {
    const next = step === layersFailed ? scratches[scratches.indexOf(found.scratch) + 1] : undefined;
    return next === undefined ? { ...found, overlay: false } : { ...found, scratch: next };
  }
  if (found.caches && /^(cache|room for caches)/.test(step)) return { ...found, caches: false };
  if (isRoot && !found.userNamespace && step === "unshare") return { ...found, userNamespace: true };
  return null;
}

async function tryOnce({ machine, workspaceFd, confine }: LevelSearch, found: FoundLevel, way: Way): Promise<Probed> {
  const layers = way === "namespaces" && found.overlay ? layersIn(found.scratch) : null;
  if (layers !== null && "failure" in layers) return layers;
  try {
    const through = way === "bubblewrap" ? (tried: Confinement) => wrapInBubblewrap(tried, found.asFile) : null;
    return await probe(confine(found, way, layers), { machine, workspaceFd, through });
  } finally {
    if (layers !== null) removeLayers(layers);
  }
}

function layersIn(scratch: string): Layers | Extract<Probed, { readonly verdict: "failed" }> {
  try {
    return makeLayers(scratch);
  } catch (thrown) {
    const { code = "EIO" } = thrown as NodeJS.ErrnoException;
    return { verdict: "failed", failure: { step: layersFailed, errno: code } };
  }
}
