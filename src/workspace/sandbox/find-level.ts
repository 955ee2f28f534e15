/** Finds the level that holds here: from the strongest down, and of each as much as works. */

import type { SandboxLevel } from "../../core/command/sandbox.ts";
import { hasBubblewrap, wrap } from "./bubblewrap.ts";
import type { Confinement } from "./confinement.ts";
import { type Layers, makeLayers, removeLayers } from "./layers.ts";
import type { Machine } from "./machine-code.ts";
import { findLandlock } from "./memory-file.ts";
import { type Probed, probe } from "./probe.ts";
import { explainFailure } from "./reasons.ts";

/** What was found to work. */
export interface Found {
  readonly level: SandboxLevel | null;
  readonly userNamespace: boolean;
  readonly caches: boolean;
  readonly overlay: boolean;
  /** Version of Landlock; 0: none. */
  readonly landlock: number;
  /** Why it is not more, a sentence each. */
  readonly reasons: readonly string[];
}

export interface Search {
  readonly machine: Machine;
  readonly isRoot: boolean;
  readonly workspaceFd: number;
  /** A folder of pai's own for the layers of an overlay. */
  readonly scratch: string;
  /** For tests: this level and no other. */
  readonly only: SandboxLevel | undefined;
  readonly confine: (found: Found, level: SandboxLevel, layers: Layers | null) => Confinement;
}

export const foundNothing = (...reasons: readonly string[]): Found => ({
  level: null,
  userNamespace: false,
  caches: false,
  overlay: false,
  landlock: 0,
  reasons,
});

export async function findLevel(search: Search): Promise<Found> {
  const landlock = findLandlock();
  const all: Found = { ...foundNothing(), userNamespace: !search.isRoot, caches: true, overlay: true, landlock };
  const reasons: string[] = landlock === 0 ? ["L2: this kernel has no Landlock; boot with lsm=landlock,…"] : [];
  for (const level of levelsToTry(search.only, landlock)) {
    const result = await tryLevel(search, level, all);
    reasons.push(...result.reasons);
    if (result.level !== null) return { ...result, reasons: [...new Set(reasons)] };
  }
  return { ...foundNothing(...new Set(reasons)), landlock };
}

function levelsToTry(only: SandboxLevel | undefined, landlock: number): readonly SandboxLevel[] {
  if (only !== undefined) return [only];
  return ["L3", ...(hasBubblewrap() ? (["L3b"] as const) : []), ...(landlock > 0 ? (["L2"] as const) : []), "L1"];
}

/** One level, with less and less of what it can do without. */
async function tryLevel(search: Search, level: SandboxLevel, all: Found): Promise<Found> {
  const reasons: string[] = [];
  let found = all;
  for (;;) {
    const result = await tryOnce(search, found, level);
    if (result.verdict === "holds") return { ...found, level, reasons };
    reasons.push(`${level}: ${result.verdict === "leaks" ? result.what : explainFailure(result.failure)}`);
    const less =
      result.verdict === "failed" && level === "L3" ? withLess(found, result.failure.step, search.isRoot) : null;
    if (less === null) return { ...found, level: null, overlay: false, reasons };
    found = less;
  }
}

/** The same without the part that failed, where the level can do without; null: it cannot. */
function withLess(found: Found, step: string, isRoot: boolean): Found | null {
  if (found.overlay && step.startsWith("overlay")) return { ...found, overlay: false };
  if (found.caches && /^(cache|room for caches)/.test(step)) return { ...found, caches: false };
  if (isRoot && !found.userNamespace && step === "unshare") return { ...found, userNamespace: true };
  return null;
}

async function tryOnce(
  { machine, workspaceFd, scratch, confine }: Search,
  found: Found,
  level: SandboxLevel,
): Promise<Probed> {
  const layers = level === "L3" && found.overlay ? makeLayers(scratch) : null;
  try {
    const through = level === "L3b" ? wrap : null;
    return await probe(confine(found, level, layers), { machine, workspaceFd, through });
  } finally {
    if (layers !== null) removeLayers(layers);
  }
}
