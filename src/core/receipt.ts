/** The shape of a receipt, which store/record-receipt.ts fills: facts one a line, each sealed with the hash of itself and of the line before. */

import type { Blob, Change } from "./change.ts";
import type { SandboxLevel, SandboxState, Wall } from "./command/sandbox.ts";
import type { KeptRanking } from "./context/rank.ts";
import { digest } from "./digest.ts";
import { type Failure, orNull } from "./error.ts";
import type { SentFile } from "./event.ts";
import type { Call, Json, Purpose, StopReason, Usage } from "./model.ts";
import type { Amendment, CheckResult, Outcome, Promised } from "./outcome.ts";
import type { Plan } from "./plan/plan.ts";
import type { Complaint } from "./ports.ts";
import type { Question } from "./question.ts";
import type { PastTurn } from "./session/past.ts";

export interface ChangedPath {
  readonly path: string;
  readonly from: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** With the new content as well: for changes of commands, no other record holds it. */
export interface ChangedContent extends ChangedPath {
  /** The new content; null: the path was deleted. `base64` is null for a file of more than 1 MiB. */
  readonly content:
    | { readonly kind: "file"; readonly mode: number; readonly base64: string | null }
    | { readonly kind: "folder"; readonly mode: number }
    | { readonly kind: "link"; readonly target: string }
    | null;
}

export type Fact =
  | {
      readonly type: "run.started";
      readonly v: 1;
      readonly run: string;
      readonly at: string;
      readonly pai: string;
      readonly root: string;
      readonly mode: string;
      /** Secrets replaced by their names. `files`: paths named with `@`. `earlier`: how many messages came before. */
      readonly task: {
        readonly files: readonly string[];
        readonly text: string;
        readonly history: readonly PastTurn[];
        readonly context: string | null;
        readonly earlier: number;
      };
      readonly options: { readonly [name: string]: Json };
      readonly model: { readonly id: string; readonly window: number; readonly maxOutputTokens: number };
      /** The random part of the names of secrets, and the last number that was given out before the run. */
      readonly names: { readonly part: string; readonly last: number };
    }
  | { readonly type: "context.sent"; readonly files: readonly SentFile[] }
  /** Why files were chosen: words, similar commits, output. Holds the first files of the ranking only. */
  | ({ readonly type: "ranking" } & KeptRanking)
  | {
      readonly type: "call";
      readonly at: string;
      readonly purpose: Purpose;
      /** Hash of the request as JSON, without the parts that only the provider understands (`native`). */
      readonly sha256: string;
      readonly bytes: number;
      readonly masked: number;
      readonly model: string;
      readonly served: string | null;
      readonly key: string | null;
      readonly usage: Usage | null;
      readonly stop: StopReason | null;
      /** The reply, secrets by the names they were sent as. */
      readonly text: string;
      readonly calls: readonly Call[];
      readonly error: Failure | null;
    }
  | { readonly type: "plan"; readonly plan: Plan; readonly promise: Promised; readonly cached: boolean }
  | ({ readonly type: "amendment" } & Amendment)
  /** The branch and whether files were changed, as the request told the model. */
  | { readonly type: "repository"; readonly text: string }
  /** What the plan cache answered; null: it held nothing for the key. */
  | { readonly type: "cached"; readonly plan: Json }
  /** What a look found, or why it found nothing (`code`); secrets by their names. */
  | {
      readonly type: "look";
      readonly action: string;
      readonly input: Json;
      readonly code: Complaint["code"] | null;
      readonly text: string;
    }
  /** Facts from earlier runs that the request showed; `learns`: the run may propose facts itself. */
  | { readonly type: "memory"; readonly text: string; readonly learns: boolean }
  | {
      readonly type: "decision";
      readonly kind: Question["kind"];
      readonly sha256: string;
      readonly accept: boolean;
      readonly by: "user" | "policy";
      readonly reason: string;
      readonly feedback: string | null;
      readonly review?: boolean;
    }
  | { readonly type: "changes"; readonly changes: readonly ChangedPath[]; readonly error: Failure | null }
  | {
      readonly type: "command";
      readonly command: string;
      readonly by: "user" | "plan";
      readonly exit: number | null;
      readonly timedOut: boolean;
      readonly ms: number;
      readonly output: string;
      readonly sha256: string;
      readonly notes: readonly string[];
      readonly changes: readonly ChangedContent[];
      /** Small ignored files that it changed on its copy, and that a rollback restores; absent: none. */
      readonly ignored?: readonly ChangedContent[];
      /** The level of the sandbox; null: it ran without one. Absent, as the two below: the command did not run. */
      readonly level?: SandboxLevel | null;
      /** The changes were proposed: those that were accepted follow as changes of their own. */
      readonly proposed?: boolean;
      /** How the sandbox may have made it fail; null: nothing hinted at that. */
      readonly wall?: Wall | null;
      readonly error: Failure | null;
    }
  | { readonly type: "sandbox"; readonly state: SandboxState }
  | { readonly type: "rolled_back"; readonly restored: readonly string[]; readonly left: readonly string[] }
  | ({ readonly type: "check"; readonly when: "before" | "after" } & CheckResult)
  | {
      readonly type: "run.finished";
      readonly at: string;
      /** Without plan and diff. */
      readonly outcome: Omit<Outcome, "plan" | "diff" | "rolled_back">;
    };

export type FactOf<T extends Fact["type"]> = Extract<Fact, { type: T }>;

/** The `prev` of the first line. */
export const noHash = "0".repeat(64);

/** A fact as a line of the receipt, LF included. `prev`: the hash of the line before; `hash`: the hash of this line. */
export function sealFact(fact: Fact, prev: string): { readonly line: string; readonly hash: string } {
  const body = JSON.stringify({ prev, ...fact });
  const hash = digest(body);
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}\n`, hash };
}

export const noEnd = "the end is missing: the run is not over, was cut off, or lines were removed";

export interface Broken {
  /** From 1. */
  readonly line: number;
  readonly why: string;
}

function openLine(line: string, prev: string): { readonly fact: Fact; readonly hash: string } | string {
  const [seal, hash] = /,"hash":"([0-9a-f]{64})"\}$/.exec(line) ?? [];
  if (seal === undefined || hash === undefined) return "it does not end in its hash";
  const body = `${line.slice(0, -seal.length)}}`;
  if (digest(body) !== hash) return "it was changed: its hash does not match";
  const read = orNull(() => JSON.parse(body) as Fact & { readonly prev: string });
  if (read === null) return "it is not a fact";
  const { prev: upon, ...fact } = read;
  return upon === prev ? { fact: fact as Fact, hash } : "it does not follow the line before";
}

/** What is wrong with the facts as a whole, once the seal of every line holds; null: nothing. */
function judgeFacts(facts: readonly Fact[], id: string): Broken | null {
  const [first] = facts;
  if (first?.type !== "run.started") return { line: 1, why: "the run does not begin here" };
  if (first.run !== id) return { line: 1, why: `it belongs to run ${first.run}` };
  if (facts.at(-1)?.type === "run.finished") return null;
  return { line: facts.length + 1, why: noEnd };
}

/** The facts of run `id` up to the first line that is broken; `broken` is null when none is. */
export function readReceipt(
  text: string,
  id: string,
): { readonly facts: readonly Fact[]; readonly broken: Broken | null } {
  const facts: Fact[] = [];
  let prev = noHash;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const opened = line.endsWith("\n") ? openLine(line.slice(0, -1), prev) : "it is not complete";
    if (typeof opened === "string") return { facts, broken: { line: facts.length + 1, why: opened } };
    facts.push(opened.fact);
    prev = opened.hash;
  }
  return { facts, broken: judgeFacts(facts, id) };
}

export const factsOf = <T extends Fact["type"]>(facts: readonly Fact[], type: T): readonly FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

/** A blob as a hash: of a file's bytes or a link's target; "folder" for a folder, null for nothing. */
function hashOf(blob: Blob | null): string | null {
  if (blob === null) return null;
  if (blob.kind === "file") return digest(blob.bytes);
  return blob.kind === "link" ? digest(`link ${blob.target}`) : "folder";
}

export function changedPath({ path, from, before, after }: Change): ChangedPath {
  return { path, from, before: hashOf(before), after: hashOf(after) };
}

const maxContent = 1024 * 1024;

export function changedContent(change: Change): ChangedContent {
  const { after } = change;
  const content =
    after?.kind === "file"
      ? {
          kind: after.kind,
          mode: after.mode,
          base64: after.bytes.length > maxContent ? null : Buffer.from(after.bytes).toString("base64"),
        }
      : after;
  return { ...changedPath(change), content };
}
