/** What the run has read and shown to the model: written by the briefing and by looks at files. */
import type { ExcerptRange } from "../../core/context/excerpts.ts";
import type { RelPath } from "../../core/path.ts";

export interface Shown {
  /** The file that it shows; null: it is the result of a look at several files. */
  readonly path: string | null;
  readonly text: string;
  /** The lines that were asked for; null or absent: the whole file. */
  readonly range?: ExcerptRange | null;
}

/** Instructions for agents from a file outside of the project's folder. */
export interface OuterGuide {
  readonly path: string;
  readonly text: string;
}

export interface ReadOptions {
  /** The environment in one line: system, tools, package manager, branch; absent: it is not mentioned. */
  readonly environment?: string;
  /** The first request shows the names at the top of the folder and nothing else unasked: it is no project. */
  readonly namesOnly?: boolean;
  /** Instructions for agents from outside of the project's folder, the nearest last. */
  readonly guides?: readonly OuterGuide[];
}

export interface FilesRead {
  readonly environment: string;
  readonly namesOnly: boolean;
  readonly outer: readonly OuterGuide[];
  /** Paths of the instructions that the first request shows, and characters that are left for others. */
  guides: readonly string[];
  guideRoom: number;
  /** Instructions for agents from files of the project, as the model is shown them. */
  nested: readonly { readonly path: RelPath; readonly bytes: Uint8Array; readonly shown: string }[];
  briefed: readonly RelPath[];
  looked: readonly Shown[];
  /** Every path read or shown, for a saved plan. */
  readonly bases: Set<RelPath>;
  /** Paths and looks with invisible characters in them, of which a notice was given. */
  readonly invisible: Set<string>;
}

export function createReading({ environment = "", namesOnly = false, guides = [] }: ReadOptions): FilesRead {
  const empty = { guides: [], guideRoom: 0, nested: [], briefed: [], looked: [] };
  return { environment, namesOnly, outer: guides, ...empty, bases: new Set(), invisible: new Set() };
}
