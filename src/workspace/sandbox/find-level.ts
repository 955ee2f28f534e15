/** Finds the strongest sandbox level that works here, and which optional parts of it do. */

import type { SandboxLevel } from "../../core/command/sandbox.ts";
import { hasBubblewrap, wrap } from "./bubblewrap.ts";
import { type Confinement, isIsolated } from "./confinement.ts";
import type { SetupFailure } from "./launch.ts";
import { type Layers, makeLayers, removeLayers } from "./layers.ts";
import type { Machine } from "./machine-code.ts";
import { findLandlock } from "./memory-file.ts";
import { type Probed, probe } from "./probe.ts";
import { findReason, type Reason } from "./reasons.ts";

/** What was found to work. */
export interface Found {
  readonly level: SandboxLevel | null;
  readonly userNamespace: boolean;
  readonly caches: boolean;
  /** Whether bubblewrap starts the tape as a file. */
  readonly asFile: boolean;
  readonly overlay: boolean;
  /** Folder for the layers of an overlay. */
  readonly scratch: string;
  /** Version of Landlock; 0: none. */
  readonly landlock: number;
  /** Why no stronger level works, a sentence each. */
  readonly reasons: readonly string[];
}

export interface Search {
  readonly machine: Machine;
  readonly isRoot: boolean;
  readonly workspaceFd: number;
  /** Folders for the layers of an overlay, best first: not every file system supports them. */
  readonly scratches: readonly [string, ...string[]];
  /** For tests: only this level. */
  readonly only: SandboxLevel | undefined;
  readonly confine: (found: Found, level: SandboxLevel, layers: Layers | null) => Confinement;
}

export const foundNothing = (...reasons: readonly string[]): Found => ({
  level: null,
  userNamespace: false,
  caches: false,
  asFile: false,
  overlay: false,
  scratch: "",
  landlock: 0,
  reasons,
});

export async function findLevel(search: Search): Promise<Found> {
  const { version: landlock, errno } = findLandlock();
  const [scratch] = search.scratches;
  const allowed = { userNamespace: !search.isRoot, caches: true, overlay: true, scratch };
  const all: Found = { ...foundNothing(), ...allowed, landlock };
  const failures: Failure[] = [];
  for (const level of search.only === undefined ? levelsToTry() : [search.only]) {
    if (level === "L2" && errno !== null) failures.push(failureOf(level, { step: "landlock_create_ruleset", errno }));
    else {
      const { found, missing } = await tryLevel(search, level, { ...all, landlock: landlockFor(level, landlock) });
      failures.push(...missing);
      if (found !== null) return { ...found, reasons: tellAll(failures) };
    }
  }
  return { ...foundNothing(...tellAll(failures)), landlock };
}

/**
 * Landlock 1 (Linux 5.13 to 5.18) forbids moving files between folders. Levels that are protected by mounts do without
 * it, so that ordinary work succeeds.
 */
const landlockFor = (level: SandboxLevel, version: number): number =>
  isIsolated(level) && version === 1 ? 0 : version;

function levelsToTry(): readonly SandboxLevel[] {
  return ["L3", ...(hasBubblewrap() ? (["L3b"] as const) : []), "L2", "L1"];
}

interface Failure extends Reason {
  readonly level: SandboxLevel;
}

const failureOf = (level: SandboxLevel, failure: SetupFailure): Failure => ({ level, ...findReason(failure) });

/** One sentence each; a remedy for several failures is named only once. */
function tellAll(failures: readonly Failure[]): readonly string[] {
  const named = new Set<string>();
  return failures.map(({ level, why, mend }) => {
    const isNew = mend !== null && !named.has(mend);
    if (isNew) named.add(mend);
    return `${level}: ${why}${isNew ? `; ${mend}` : ""}`;
  });
}

/** Tries one level with fewer and fewer optional parts; if it works in the end, reports the missing ones. */
async function tryLevel(search: Search, level: SandboxLevel, all: Found) {
  const missing: Failure[] = [];
  let found = all;
  for (;;) {
    const result = await tryOnce(search, found, level);
    if (result.verdict === "holds") return { found: { ...found, level }, missing };
    const last =
      result.verdict === "leaks" ? { level, why: result.what, mend: null } : failureOf(level, result.failure);
    const less = result.verdict === "failed" ? withLess(found, level, result.failure.step, search) : null;
    if (less === null) return { found: null, missing: [last] };
    if (level === "L3" && less.scratch === found.scratch) missing.push(last);
    found = less;
  }
}

const layersFailed = "overlay of the workspace";

/** Leaves out the optional part that failed; null: it is not optional. */
function withLess(found: Found, level: SandboxLevel, step: string, { isRoot, scratches }: Search): Found | null {
  if (level === "L3b") return step === "bubblewrap" && !found.asFile ? { ...found, asFile: true } : null;
  if (level !== "L3") return null;
  if (found.overlay && step.startsWith("overlay")) {
    const next = step === layersFailed ? scratches[scratches.indexOf(found.scratch) + 1] : undefined;
    return next === undefined ? { ...found, overlay: false } : { ...found, scratch: next };
  }
  if (found.caches && /^(cache|room for caches)/.test(step)) return { ...found, caches: false };
  if (isRoot && !found.userNamespace && step === "unshare") return { ...found, userNamespace: true };
  return null;
}

async function tryOnce({ machine, workspaceFd, confine }: Search, found: Found, level: SandboxLevel): Promise<Probed> {
  const layers = level === "L3" && found.overlay ? layersIn(found.scratch) : null;
  if (layers !== null && "failure" in layers) return layers;
  try {
    const through = level === "L3b" ? (tried: Confinement) => wrap(tried, found.asFile) : null;
    return await probe(confine(found, level, layers), { machine, workspaceFd, through });
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
