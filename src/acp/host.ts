/** The types of what the agent for editors needs from the rest of pai: sessions and their turns. */
import type { StampedEvent } from "../core/event.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Decide } from "../core/question.ts";
import type { Showing } from "./door.ts";

export interface Choice {
  readonly name: string;
  readonly description: string;
}

export interface EditorTurn {
  readonly text: string;
  /** Paths that the person refers to, relative to the root, as the editor named them. */
  readonly mentions: readonly string[];
  readonly context: string | null;
  readonly sink: (event: StampedEvent) => void;
  readonly decide: Decide;
  readonly signal: AbortSignal;
}

export interface EditorTalk {
  readonly id: string;
  readonly root: string;
  readonly turns: readonly { readonly request: string; readonly text: string }[];
  readonly modes: readonly Choice[];
  readonly models: readonly Choice[];
  readonly commands: readonly Choice[];
  /** Commands that are defined in files: each one becomes a message. */
  readonly customs: readonly Choice[];
  readonly mode: string;
  readonly model: string;
  /** Tokens that the current model can hold. */
  readonly window: number;
  setMode(id: string): void;
  /** Throws model_unknown, no_key, and what opening a model throws. */
  setModel(id: string): Promise<void>;
  /** Never rejects. */
  run(turn: EditorTurn): Promise<Outcome>;
  command(id: string, words: string, signal: AbortSignal): Promise<string>;
  /** Text of a file on disk; null: there is no file, or it is not text. Throws path_refused. */
  readText(path: string): Promise<string | null>;
  /** The text with each secret that the session has seen replaced by its name. */
  cover(text: string): string;
  close(): void;
}

export interface TalkSummary {
  readonly id: string;
  readonly root: string;
  readonly title: string;
  readonly changed: string;
}

export interface Host {
  readonly version: string;
  readonly showing: Showing;
  /** Opens a new session, or the one with this id; `tell` gets notices from before the first turn. */
  open(folder: string, id: string | null, tell: (text: string) => void): Promise<EditorTalk>;
  list(folder: string | null): Promise<readonly TalkSummary[]>;
  /** Throws no_key when there is no key for the configured model. */
  requireKey(): void;
}
