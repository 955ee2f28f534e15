/** The types of what the server for other agents needs from the rest of pai: tools and their answers. */
import type { Fields, Json } from "../core/model.ts";

/** JSON Schema of an object. */
export interface InputSchema {
  readonly type: "object";
  readonly properties: Fields;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** The description of a tool for agents. */
export interface OfferedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
    readonly openWorldHint: boolean;
  };
}

export interface ToolRequest {
  readonly name: string;
  readonly input: Fields;
  /** Aborted when the agent cancels, or disconnects. */
  readonly signal: AbortSignal;
  /** Tells the agent what is being done. */
  readonly progress: (text: string) => void;
}

export interface ToolAnswer {
  readonly ok: boolean;
  readonly text: string;
  /** The answer as data; null: there is none. */
  readonly data: Json;
}

export interface ToolHost {
  readonly version: string;
  readonly tools: readonly OfferedTool[];
  /** Carries out a tool. Never rejects: a failure is an answer, too. */
  call(request: ToolRequest): Promise<ToolAnswer>;
}
