/** The action script of an execution call: what it holds. */
import type { StopReason } from "../model.ts";

export interface EditBlock {
  readonly search: string;
  readonly replace: string;
  /** SEARCH ALL: every place, not exactly one. */
  readonly all?: true;
}

export interface ScriptAction {
  readonly cmd: string;
  readonly path?: string;
  /** The second path of MV and COPY. */
  readonly to?: string;
  /** Range of READ, the rest of RUN, SEARCH, GLOB; the message of FINISH. */
  readonly arg?: string;
  readonly body?: string;
  readonly blocks?: readonly EditBlock[];
  /** NEXT lines of FINISH. */
  readonly next?: readonly string[];
  readonly flags?: readonly string[];
  /** The reply was cut inside this action. */
  readonly partial?: true;
  /** Line of the header, 1-based. */
  readonly line: number;
}

/** A body as it was received, all its lines complete. */
export interface Body {
  readonly cmd: "WRITE" | "MODIFY" | "FINISH";
  readonly path: string;
  /** Word that closes it. */
  readonly tag: string;
  /** Line of the header, 1-based. */
  readonly line: number;
  readonly flags: readonly string[];
  readonly lines: readonly string[];
}

/** An open body, JSON-safe; passed back as `resumed`, it is continued. Its lines are the complete ones. */
export interface Cut extends Body {
  readonly cmd: "WRITE" | "MODIFY";
}

/** Something about a line of the reply, 1-based. */
export interface Note {
  readonly line: number;
  readonly text: string;
}

/**
 * A parsed reply. A MODIFY without blocks is a complaint, its flags say why: one broken block is enough
 * (`no-divider`, `divider-unclear`), since all blocks of a MODIFY are applied or none.
 */
export interface Script {
  readonly actions: readonly ScriptAction[];
  /** Prose outside the actions. */
  readonly remarks: readonly Note[];
  /** What the next phase should be told, worded for the model. */
  readonly warnings: readonly Note[];
  /** The reply stopped early or has no FINISH. */
  readonly truncated: boolean;
  /** `no-finish`: it ended normally with every body closed, so its actions may still run. */
  readonly flags: readonly string[];
  /** The body the reply was cut in; its action is the last one, partial. */
  readonly cut: Cut | null;
}

export interface ScriptOptions {
  /** Text of a file of the workspace, or null; the parser's only view of the workspace; must not throw. */
  readonly read: (path: string) => string | null;
  /** The body to go on with, from the `cut` of the reply before. */
  readonly resumed?: Cut | null;
  /** Word of bodies whose header names none: the one the prompt named. Default EOT. */
  readonly tag?: string;
}

export interface ScriptParser {
  /**
   * Returns the actions that became complete with this chunk. The caller must not start RM, MV or RUN
   * before `end` has shown that the reply is whole, nor anything of a model that may have written its reasoning
   * without a mark before it: `end` leaves out what turned out to be that.
   */
  push(chunk: string): readonly ScriptAction[];
  end(stop: StopReason): Script;
}

/** Lines of a READ's `arg`, 1-based, both included; null for no range and for what is not one. */
export function parseReadRange(arg: string | undefined): { readonly from: number; readonly to: number } | null {
  const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(arg ?? "");
  if (match === null) return null;
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return from >= 1 && to >= from ? { from, to } : null;
}
