/** The old content of all files of a run: joined once, when a rule first asks, since they may be thousands. Pure. */
export interface GuardedBefore {
  readonly text: () => string;
  /** Without blanks at either end. */
  readonly lines: () => ReadonlySet<string>;
}

export function openBefore(files: readonly { readonly old: string | null }[]): GuardedBefore {
  let text: string | null = null;
  let lines: ReadonlySet<string> | null = null;
  return {
    text() {
      text ??= files.map(({ old }) => old ?? "").join("\n");
      return text;
    },
    lines() {
      lines ??= new Set(files.flatMap(({ old }) => (old ?? "").split("\n").map((line) => line.trim())));
      return lines;
    },
  };
}
