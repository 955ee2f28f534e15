/** Parses the action script of an execution call (spec 2.3, 6.11): total, streaming, never throws. */

export interface EditBlock {
  readonly search: string;
  readonly replace: string;
  /** SEARCH ALL: every place, not exactly one. */
  readonly all?: true;
}

export interface ScriptAction {
  readonly cmd: string;
  readonly path?: string;
  /** Target of MV. */
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
