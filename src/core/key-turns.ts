/** The state of a provider's keys that runs share: which key is next, and which keys are resting. */

export interface KeyTurns {
  /** Id of the key used last, by provider. */
  readonly cursor: Readonly<Record<string, string>>;
  /** When a key may be used again, in epoch milliseconds, by `provider/id`. */
  readonly resting: Readonly<Record<string, number>>;
}

/** Keeps the turns. Must not throw: turns that cannot be read count as empty, turns that cannot be written are lost. */
export interface KeyState {
  load(): KeyTurns;
  /** Asks other machines which keys are resting, and waits only briefly; absent: no other machine is asked. */
  refresh?(): Promise<void>;
  /** Merges `news` into the turns that are kept: other processes save there too. */
  save(news: KeyTurns): void;
}
