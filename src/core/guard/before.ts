/** The old content of all files of a run: joined once, when a rule first asks, since they may be thousands. Pure. */
import { openHolding } from "../secrets/new-secrets.ts";

export interface GuardedBefore {
  /** Whether one of the files holds this value as a secret, or in full view. */
  readonly holds: (value: string) => boolean;
  /** Without blanks at either end. */
  readonly lines: () => ReadonlySet<string>;
}

export function openBefore(files: readonly { readonly old: string | null }[]): GuardedBefore {
  let holding: ((value: string) => boolean) | null = null;
  let lines: ReadonlySet<string> | null = null;
  return {
    holds(value) {
      holding ??= openHolding(files.map(({ old }) => old ?? "").join("\n"));
      return holding(value);
    },
    lines() {
      lines ??= new Set(files.flatMap(({ old }) => (old ?? "").split("\n").map((line) => line.trim())));
      return lines;
    },
  };
}
