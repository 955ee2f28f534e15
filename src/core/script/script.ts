/** The types of the action script of an execution call. */

export interface EditBlock {
  readonly search: string;
  readonly replace: string;
  /** SEARCH ALL: every occurrence is replaced; else there must be exactly one. */
  readonly all?: true;
}

export interface ScriptAction {
  readonly cmd: string;
  readonly path?: string;
  readonly to?: string;
  /** Range of READ, the rest of RUN, SEARCH, GLOB; the message of FINISH. */
  readonly arg?: string;
  readonly body?: string;
  readonly blocks?: readonly EditBlock[];
  /** NEXT lines of FINISH. */
  readonly next?: readonly string[];
  /** The last block of its edits has no closing line. */
  readonly isOpen?: true;
  /** The reply was cut inside this action. */
  readonly partial?: true;
  readonly line: number;
}

export interface Body {
  readonly cmd: "WRITE" | "MODIFY" | "FINISH";
  readonly path: string;
  /** The word that closes it. */
  readonly tag: string;
  readonly line: number;
  readonly lines: readonly string[];
}

/** A body that a cut reply left open, with its complete lines. */
export interface Cut extends Body {
  readonly cmd: "WRITE" | "MODIFY";
}

/** A note about a line of the reply; lines count from 1. */
export interface Note {
  readonly line: number;
  readonly text: string;
}

/** A MODIFY without blocks could not be read: one broken block is enough, since all of them are applied or none. */
export interface Script {
  readonly actions: readonly ScriptAction[];
  readonly remarks: readonly Note[];
  /** What to tell the model in the next phase. */
  readonly warnings: readonly Note[];
  /** The reply stopped early or has no FINISH. */
  readonly truncated: boolean;
  /** It ended normally with every body closed, so that its actions may run without FINISH, too. */
  readonly isWhole: boolean;
  /** The body in which the reply was cut; its action is the last one, partial. */
  readonly cut: Cut | null;
}

export interface ScriptOptions {
  /** Text of a file of the workspace, or null. The parser's only access to the workspace; must not throw. */
  readonly read: (path: string) => string | null;
  /** The tag of bodies whose header names none: the prompt's tag. Default EOT. */
  readonly tag?: string;
}

/** A path with the range of lines that is written behind it, as in `a.py:10-20` and `a.py:10`; null: there is none. */
export function splitRange(text: string): { readonly path: string; readonly from: number; readonly to: number } | null {
  const [, path = "", range = ""] = /^(.+?)::?(\d{1,9}(?:-\d{1,9})?)$/.exec(text) ?? [];
  const found = parseReadRange(range);
  return path === "" || found === null ? null : { path, ...found };
}

/** The line range in a READ's `arg`, from 1, both ends included; null: there is no valid range. */
export function parseReadRange(arg: string | undefined): { readonly from: number; readonly to: number } | null {
  const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(arg ?? "");
  if (match === null) return null;
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return from >= 1 && to >= from ? { from, to } : null;
}
