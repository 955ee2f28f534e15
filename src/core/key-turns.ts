/** The state of a provider's keys that runs share: which key is next, and which of them rest. */

/** JSON-safe. */
export interface KeyTurns {
  /** Id of the key used last, by provider. */
  readonly cursor: Readonly<Record<string, string>>;
  /** When a key may be used again, in epoch milliseconds, by `provider/id`. */
  readonly resting: Readonly<Record<string, number>>;
}

/** Where they are kept. Must not throw: what cannot be read is empty, what cannot be written is lost. */
export interface KeyState {
  load(): KeyTurns;
  /** Learns what other machines know of these keys, as far as they say it at once; absent: nobody else is asked. */
  refresh?(): Promise<void>;
  /** Adds what is new to what is kept: other processes write there too. */
  save(news: KeyTurns): void;
}
