/** What a run ends with: its answer, what is remembered and what is committed; written by replies and by the ending. */
import type { ProjectMemory } from "../../core/memory.ts";
import { type KeyMask, maskHeld } from "../../core/secrets/held-keys.ts";

export interface EndOptions {
  /** JSON Schema of the answer, as text; absent or null: any text. */
  readonly outputSchema?: string | null;
  /** Commit what a verified run changed, with this message or one of the run's own words; absent or null: no. */
  readonly commit?: { readonly message: string | null; readonly unverified: boolean } | null;
}

export interface RunEnding extends EndOptions {
  /** Facts about the project from earlier runs; null: none are shown or learned. */
  readonly memory: ProjectMemory | null;
  /** Masks the keys that pai holds. */
  readonly mask: KeyMask;
  text: string;
  next: readonly string[];
  score: number | null;
}

export interface EndPorts {
  /** Facts about the project from earlier runs; null or absent: none are shown or learned. */
  readonly memory?: ProjectMemory | null;
  /** Masks the keys that pai holds in everything that leaves the run; absent: no keys are held. */
  readonly mask?: KeyMask;
}

export function createEnding({ outputSchema, commit }: EndOptions, ports: EndPorts): RunEnding {
  return {
    outputSchema: outputSchema ?? null,
    commit: commit ?? null,
    memory: ports.memory ?? null,
    mask: ports.mask ?? maskHeld([]),
    text: "",
    next: [],
    score: null,
  };
}
