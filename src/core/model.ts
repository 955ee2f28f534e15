/** The neutral language between flows and providers: one request, one stream of events. */

export type Json = null | boolean | number | string | readonly Json[] | Fields;

export type Fields = { readonly [key: string]: Json };

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A text field of a call's input; "": there is none. */
export const fieldOf = (input: Json, name: string): string => {
  const value = isFields(input) ? input[name] : null;
  return typeof value === "string" ? value : "";
};

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

export interface CallResult {
  readonly id: string;
  readonly name: string;
  readonly ok: boolean;
  readonly text: string;
}

/** The provider's own form of a reply, kept whole so that signatures survive a round trip. */
export interface Native {
  readonly model: string;
  readonly content: Json;
}

export type Message =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly Call[];
      readonly native: Native | null;
    }
  | { readonly role: "tools"; readonly results: readonly CallResult[] };

export function textOf(message: Message): string {
  if (message.role === "tools") return message.results.map(({ text }) => text).join("");
  return message.role === "assistant" ? message.text + JSON.stringify(message.calls) : message.text;
}

/** Characters of a message; a token is about four. */
export const sizeOf = (message: Message): number => textOf(message).length;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

/** Tokens of one or more calls. `cached` and `written` are parts of `input`; `thought` is part of `output`. */
export interface Usage {
  readonly input: number;
  readonly cached: number;
  /** Absent: none. */
  readonly written?: number;
  readonly output: number;
  readonly thought: number;
}

export type Purpose =
  | "plan"
  | "replan"
  | "repair"
  | "execute"
  | "resume"
  | "integrity"
  | "heal"
  | "summary"
  | "answer"
  | "turn"
  | "explore"
  | "compact";

/** Calls that stand alone: no later request begins with theirs. */
const alone: ReadonlySet<Purpose> = new Set(["integrity", "summary", "answer", "compact"]);

export const isRepeated = ({ purpose }: Pick<ModelRequest, "purpose">): boolean => !alone.has(purpose);

export const efforts = ["none", "minimal", "low", "medium", "high", "max"] as const;
export type Effort = (typeof efforts)[number];

export type Job = "plan" | "work";

export interface ModelRequest {
  readonly purpose: Purpose;
  /** Absent: work. */
  readonly job?: Job;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice: "auto" | "none";
  /** Ask for one JSON value of this schema (plain JSON Schema; each bridge converts it to its own dialect). */
  readonly format: {
    readonly name: string;
    readonly schema: Json;
    /** The prompt says the form, too: sent only where it does not become a part of the prompt, which later calls repeat. */
    readonly isOptional?: boolean;
  } | null;
  readonly maxOutputTokens: number;
  /** Whether a cap or the window stands behind `maxOutputTokens`; some services are told no other. */
  readonly isCapped: boolean;
  /** null: the model's own. */
  readonly temperature: number | null;
  /** null or absent: the model's own. */
  readonly effort?: Effort | null;
}

export type StopReason = "end" | "calls" | "length" | "refused";

export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  | { readonly type: "call"; readonly call: Call }
  | {
      readonly type: "done";
      readonly stop: StopReason;
      readonly usage: Usage;
      /** USD that the provider says it charged; absent: it says nothing. */
      readonly charged?: number;
      /** Model that really answered, as the provider named it. */
      readonly served: string;
      /** Id of the key that paid for the call; null: the model needs none. */
      readonly key: string | null;
      readonly native: Native | null;
    };

/**
 * A model behind a bridge.
 *
 * Contract of `stream`:
 * - must yield exactly one `done`, last;
 * - must throw PaiError for every failure, `interrupted` when the signal ended it;
 * - must not retry once it has yielded an event;
 * - must ask `refit` for `maxOutputTokens` before another model takes over: it throws budget_* when no budget is left.
 */
export interface Model {
  /** `provider:name`, as asked for. */
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  /** URL of the server that answers: the same name at another URL is another model. null: a recording. */
  readonly address: string | null;
  /** Tokens that the model can hold, input and output together; `maxOutputTokens`: tokens of output alone. */
  readonly window: number;
  readonly maxOutputTokens: number;
  /** The models of a pair, each for its calls; absent: one model does all of them. */
  readonly parts?: Readonly<Record<Job, Model>> | undefined;
  stream(request: ModelRequest, signal: AbortSignal, refit?: () => number): AsyncIterable<ModelEvent>;
}

export const partOf = (model: Model, job: Job = "work"): Model => model.parts?.[job] ?? model;

export const noUsage: Usage = { input: 0, cached: 0, output: 0, thought: 0 };

/** What a token of a repeated beginning weighs, where a new one weighs 1: the usual price of services that keep it. */
const cachedWeight = 0.1;

/** Tokens as services bill them, in the weight of new ones. */
export const weighedOf = ({ input, cached, output }: Usage): number =>
  Math.round(input - cached + cachedWeight * cached + output);

export function addUsage(a: Usage, b: Usage): Usage {
  const written = (a.written ?? 0) + (b.written ?? 0);
  return {
    input: a.input + b.input,
    cached: a.cached + b.cached,
    ...(written === 0 ? {} : { written }),
    output: a.output + b.output,
    thought: a.thought + b.thought,
  };
}
