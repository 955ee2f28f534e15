/** What a kind of failure is, and what several of them share. */
import type { ErrorCode } from "../../src/core/error.ts";
import type { OutcomeDocument } from "./contract.ts";
import type { Answer } from "./gemini.ts";
import type { Place, RunOptions } from "./harness.ts";

export interface Failing {
  readonly name: string;
  readonly code: number;
  readonly error: ErrorCode;
  /** Absent: a plain task. */
  readonly args?: readonly string[];
  readonly answers?: readonly Answer[];
  readonly files?: Readonly<Record<string, string>>;
  readonly options?: (place: Place) => RunOptions;
  readonly prepare?: (place: Place) => void | Promise<void>;
  /** Requests that must have been sent; without it: not counted. */
  readonly calls?: number;
  /** Somebody else changes the tree meanwhile. */
  readonly changesTree?: boolean;
  readonly check?: (outcome: OutcomeDocument) => void;
}

export const fails = (name: string, code: number, error: ErrorCode, rest: Partial<Failing>): Failing => ({
  ...{ name, code, error },
  ...rest,
});

export const task = ["run", "-y", "make hello.txt"] as const;

/** Not asked again, so that nothing waits. */
export const refused = (status: number, body = ""): Answer => ({
  status,
  body,
  headers: { "x-should-retry": "false" },
});
