/** What a run reports while it happens: the only way core and flows speak. */

import type { ShapeOf } from "./json.ts";
import type { Message } from "./model.ts";
import type { Notice } from "./question.ts";
import type { eventSchema } from "./schemas.ts";

export interface SentFile {
  readonly path: string;
  /** Of the whole file, in hex. */
  readonly sha256: string;
  /** Size of the part that was sent, in UTF-8. */
  readonly bytes: number;
}

type ShownEvent = Exclude<ShapeOf<typeof eventSchema>, { type: "notice" }> | ({ readonly type: "notice" } & Notice);

type InnerEvent =
  /** A few times a second: lines of the reply, estimated tokens of thoughts. `replied`: its text for the user is whole */
  | {
      readonly type: "model.progress";
      readonly n: number;
      readonly replied: boolean;
      readonly thought: number;
      readonly lines: number;
    }
  /** A few times a second, while a command runs: the last lines of its output. */
  | { readonly type: "command.output"; readonly lines: string }
  /** For the session file, here and in the next event. */
  | { readonly type: "message.added"; readonly message: Message }
  | { readonly type: "conversation.replaced"; readonly messages: readonly Message[] }
  /** For the session file, as `Conversation.known` has it. */
  | { readonly type: "files.known"; readonly files: Readonly<Record<string, string>> }
  | { readonly type: "look.shown"; readonly action: string; readonly target: string; readonly text: string }
  | { readonly type: "context.sent"; readonly files: readonly SentFile[] };

type Stamp = "run" | "seq" | "at";
type Unstamped<Event> = Event extends unknown ? Omit<Event, Stamp> : never;

export type RunEvent = Unstamped<ShownEvent> | InnerEvent;

/** An event as it leaves the run: stamped. `at` is ISO 8601 with zone. */
export type StampedEvent = RunEvent & { readonly run: string; readonly seq: number; readonly at: string };

/** Sinks are synchronous and never throw. */
export type Emit = (event: RunEvent) => void;
