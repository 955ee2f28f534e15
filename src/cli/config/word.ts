/** The type of a subcommand of `pai config` and `pai key`. */
import type { Json } from "../../core/model.ts";
import type { Provider } from "../../core/providers.ts";
import type { Places } from "../../store/places.ts";
import type { LoadedSettings } from "../../store/settings.ts";
import type { Context } from "../command.ts";
import type { ReadLine } from "./key-entry.ts";

export interface SettingsNow {
  readonly values: Readonly<Record<string, Json>>;
  readonly origins: Readonly<Record<string, string>>;
}

export interface ConfigCall {
  readonly context: Context;
  readonly words: readonly string[];
  /** The provider that `--provider` names; null: not given. */
  readonly provider: Provider | null;
  /** The user's settings. Throws config_invalid for unusable ones. */
  readonly load: () => LoadedSettings;
  readonly places: Places;
  /** null: those of the files and variables. */
  readonly now: SettingsNow | null;
  readonly askHidden: ReadLine;
  readonly readLine: ReadLine | null;
  readonly warn: (text: string) => void;
  /** Gives advice on standard error, since standard output is for the result. */
  readonly note: (text: string) => void;
}

export interface ConfigAnswer {
  readonly lines: readonly string[];
  /** `data` for `--json`. Must not contain a whole key. */
  readonly data: unknown;
}

export interface ConfigWord {
  readonly usage: string;
  readonly about: string;
  readonly words: readonly [least: number, most: number];
  readonly run: (call: ConfigCall) => ConfigAnswer | Promise<ConfigAnswer>;
}
