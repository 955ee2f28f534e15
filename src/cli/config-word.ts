/** What a word after `pai config` is. */
import type { Places } from "../store/places.ts";
import type { Context } from "./command.ts";

export interface ConfigCall {
  readonly context: Context;
  /** What follows the word. */
  readonly words: readonly string[];
  /** As `--provider` says; null: not said. */
  readonly provider: string | null;
  readonly places: Places;
  /** null: end of input. */
  readonly askHidden: (question: string) => Promise<string | null>;
  readonly warn: (text: string) => void;
}

export interface ConfigAnswer {
  readonly lines: readonly string[];
  /** The `data` of `--json`. Must not hold a key unmasked. */
  readonly data: unknown;
}

export interface ConfigWord {
  readonly usage: string;
  readonly about: string;
  /** How many words may follow. */
  readonly least: number;
  readonly most: number;
  readonly run: (call: ConfigCall) => ConfigAnswer | Promise<ConfigAnswer>;
}
