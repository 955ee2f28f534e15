/** The shape of a subcommand of `pai config`. */
import type { Places } from "../../store/places.ts";
import type { Context } from "../command.ts";

export interface ConfigCall {
  readonly context: Context;
  /** The arguments after the subcommand. */
  readonly words: readonly string[];
  /** The value of `--provider`; null: not given. */
  readonly provider: string | null;
  readonly places: Places;
  /** Asks for text that is not echoed; null: end of input. */
  readonly askHidden: (question: string) => Promise<string | null>;
  readonly warn: (text: string) => void;
  /** Says what to do next; standard output holds the answer alone. */
  readonly note: (text: string) => void;
}

export interface ConfigAnswer {
  readonly lines: readonly string[];
  /** The `data` of `--json`. Must not hold a key unmasked. */
  readonly data: unknown;
}

export interface ConfigWord {
  readonly usage: string;
  readonly about: string;
  /** How many arguments it takes, at least and at most. */
  readonly least: number;
  readonly most: number;
  readonly run: (call: ConfigCall) => ConfigAnswer | Promise<ConfigAnswer>;
}
