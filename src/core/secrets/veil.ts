/** Keeps secrets on this machine: models see names instead, and only files that held a secret get it back. Pure. */

import type { Blob, Change, FileBlob } from "../change.ts";
import { renderSteps } from "../diff.ts";
import { mapTexts } from "../map-texts.ts";
import type { Message } from "../model.ts";
import { finish } from "../steps.ts";
import { changeText, isWide, openNarrow, openWide } from "../text.ts";
import { replaceKeyLines } from "./key-lines.ts";
import { maskAll, replaceSecrets, searchSecrets } from "./key-shapes.ts";
import { createKnownTexts, spellingsOf } from "./known-texts.ts";
import { type Manner, mannerOfFile, type Span } from "./named-values.ts";

/** `<<SECRET_k3f9_1>>`: a part that is random for each run, and a number. */
const anyName = /<<SECRET_([a-z0-9]{4})_(\d{1,6})>>/g;
const opening = "<<SECRET_";

/** The largest number of a name: one more digit, and it would not be recognised as a name. */
const maxNumber = 999_999;

const findNamed = (text: string) => [...text.matchAll(anyName)];

export interface VeilOptions {
  /** The random part of the names; drawn when absent. A session reuses its own, a replay that of the receipt. */
  readonly part?: string | undefined;
  /** Names up to this number are taken: earlier runs of the session gave them out. */
  readonly last?: number;
  readonly trusting?: boolean;
  /** Secrets that are known before anything is read, such as keys. */
  readonly known?: readonly string[];
}

export type Veil = ReturnType<typeof createVeil>;

type IsAllowed = (value: string) => boolean;

/** How many secrets are known in every spelling: a file may hold any number of made-up ones. Others only as written. */
const maxSpelled = 5_000;
/** A key may be a word, such as the `password` of a local server, that is left in texts. */
const word = /^[a-z]{1,15}$/i;
const minKey = 8;
const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
const keyRun = 16;
/** The pieces of a private key's body: escapes, signs of a diff and names stay, all others are hidden. */
const keyPieces = /\\[nrt]|(?<=[\r\n])[ +-]|<<SECRET_[a-z0-9]{4}_\d+>>|[A-Za-z0-9+/=_]{4,}/g;

const draw = (): string =>
  Array.from({ length: 4 }, () => letters.charAt(Math.floor(Math.random() * letters.length))).join("");

export function createVeil(options: VeilOptions = {}) {
  const { trusting = false } = options;
  const known = createKnownTexts();
  const values = new Map<string, string>();
  const names = new Map<string, string>();
  let part = options.part ?? draw();
  const parts = new Set([part]);
  let last = options.last ?? 0;
  let count = 0;
  let version = 0;

  const nameOf = (value: string): string => {
    const given = names.get(value);
    if (given !== undefined) return given;
    if (last >= maxNumber) {
      part = draw();
      parts.add(part);
      last = 0;
    }
    last += 1;
    const name = `${opening}${part}_${last}>>`;
    names.set(value, name);
    values.set(name, value);
    return name;
  };
  const know = (text: string) => {
    if (known.add(text, nameOf)) version += 1;
  };
  const learn = (value: string) => {
    if (known.has(value)) return;
    count += 1;
    for (const spelling of count > maxSpelled ? [value] : spellingsOf(value)) know(spelling);
  };
  /** From now on this text is a secret, in every spelling; words and short texts are not, which stand everywhere. */
  const learnKey = (secret: string) => {
    if (secret.length < minKey || word.test(secret)) return;
    for (const spelling of spellingsOf(secret)) know(spelling);
  };
  for (const key of options.known ?? []) learnKey(key);

  const namePiece = (piece: string): string => {
    if (piece.length < 4 || piece.startsWith("\\") || piece.startsWith(opening)) return piece;
    if (piece.length >= keyRun) for (const each of [piece, encodeURIComponent(piece)]) know(each);
    return nameOf(piece);
  };
  const nameFound = (value: string, { kind, isLocal = false }: Span): string => {
    const before = names.size;
    if (kind !== "private key") {
      if (!isLocal) learn(value);
      else if (!names.has(value)) count += 1;
      return nameOf(value);
    }
    const hidden = value.replace(keyPieces, namePiece);
    if (names.size > before) count += 1;
    return hidden;
  };

  /** Numbers found in our own texts count as used: they may belong to secrets that only an earlier run knew. */
  const takeNumbers = (text: string): void => {
    for (const [, owner = "", number = ""] of findNamed(text)) {
      if (owner === part) last = Math.max(last, Number(number));
    }
  };

  /**
   * Learns the secrets of a text as it is: a known text may hold the word that tells of one beside it. Those that adjoin
   * are learned as one. Returns whether something is left that is hidden only at its place: a private key, or a word.
   */
  const learnAll = (text: string, manner: Manner): boolean => {
    let isLeft = false;
    let [from, reached] = [0, -1];
    const { spans, covered } = searchSecrets(text, manner);
    for (const { start, end, kind, isLocal } of spans) {
      if (kind === "private key" || isLocal === true) {
        isLeft = true;
        continue;
      }
      if (start !== reached) from = start;
      reached = end;
      learn(text.slice(from, end));
    }
    for (const value of covered) learn(value);
    return isLeft;
  };

  /** Replaces every secret by its name, which stays the same for the whole run. For texts of pai and the model. */
  const hide = (text: string, manner: Manner = "code"): string => {
    takeNumbers(text);
    const isLeft = learnAll(text, manner);
    const covered = known.replace(text);
    if (!isLeft) return covered;
    const before = version;
    const hidden = replaceSecrets(covered, nameFound, manner);
    return version === before ? hidden : known.replace(hidden);
  };

  /** Foreign text may hold our names: they are hidden as secrets are, by names with another part. */
  const refuseNames = (text: string): string => {
    if (trusting) return text;
    while (text.includes(`${opening}${part}_`)) part = draw();
    parts.add(part);
    return text.replace(anyName, (written, owner: string) => (parts.has(owner) ? nameOf(written) : written));
  };
  /** `hide` for texts from files and commands: text there that looks like one of our names is hidden as well. */
  const hideRaw = (text: string, manner: Manner = "code"): string => hide(refuseNames(text), manner);

  /** `kept`: names that were not replaced: their values are not allowed here, or no longer known. */
  const reveal = (text: string, isAllowed: IsAllowed): { readonly text: string; readonly kept: readonly string[] } => {
    const kept = new Set<string>();
    const revealed = text.replace(anyName, (name, owner: string) => {
      if (!parts.has(owner)) return name;
      const value = values.get(name);
      if (value !== undefined && isAllowed(value)) return value;
      kept.add(name);
      return name;
    });
    return { text: revealed, kept: [...kept] };
  };
  return {
    get part(): string {
      return part;
    },
    get last(): number {
      return last;
    },
    get count(): number {
      return count;
    },
    /** Grows with every secret text that becomes known: texts that were hidden before may have to be hidden again. */
    get version(): number {
      return version;
    },
    hide,
    hideRaw,
    hideOutput: (text: string): string => hide(replaceKeyLines(refuseNames(text), namePiece), "plain"),
    /** hideRaw for the content of a file; returns the same array when nothing is hidden. */
    hideBytes(bytes: Uint8Array, manner?: Manner): Uint8Array {
      // What claims to be UTF-16 may hold secrets in single bytes, too; both are hidden, and come back in the other order.
      const hideText = (text: string) => hideRaw(text, manner);
      return changeText(openNarrow, changeText(openWide, bytes, hideText), hideText);
    },
    hideAll: <T>(value: T): T => mapTexts(value, (text) => hide(text)),
    /** Replaces known secrets by their names, for what is shown and stored; learns no new secrets. */
    cover: <T>(value: T): T => mapTexts(value, known.replace),
    /** `cover` for what people see: what looks like a key, and is none that is known, is masked, too. */
    show: <T>(value: T): T => maskAll(mapTexts(value, known.replace)),
    learn: learnKey,
    /** Goes on with the names that earlier texts of a session hold, so that none is given to another secret. */
    resume(earlier: readonly string[]): void {
      const found = findNames(earlier);
      if (found === null) return;
      parts.add(found.part);
      if (names.size === 0) ({ part, last } = found);
    },
    /** How many characters at the end of the text may be the beginning of a known secret. */
    pending: known.begun,
    reveal,
    revealBytes(bytes: Uint8Array, isAllowed: IsAllowed) {
      const kept = new Set<string>();
      const revealIn = (text: string): string => {
        const revealed = reveal(text, isAllowed);
        for (const name of revealed.kept) kept.add(name);
        return revealed.text;
      };
      const revealed = changeText(openWide, changeText(openNarrow, bytes, revealIn), revealIn);
      return { kept: [...kept], bytes: revealed };
    },
    namesIn: (text: string): readonly string[] => [
      ...new Set(findNamed(text).flatMap(([name, owner = ""]) => (parts.has(owner) ? [name] : []))),
    ],
    blank: (text: string): string =>
      text.replace(anyName, (name, owner: string) => (parts.has(owner) ? "<<SECRET>>" : name)),
  };
}

/** The text with one mark for every secret and every name, to compare texts without their secrets. */
export const blankSecrets = (text: string): string =>
  replaceSecrets(text, () => "<<SECRET>>").replace(anyName, "<<SECRET>>");

export const countNames = (text: string): number => new Set(findNamed(text).map(([name]) => name)).size;

/** The random part and the highest number of the names in earlier texts of a session; null: there are none. */
function findNames(texts: readonly string[]): { readonly part: string; readonly last: number } | null {
  const names = texts.flatMap(findNamed);
  const part = names.at(-1)?.[1];
  return part === undefined ? null : { part, last: Math.max(...names.map(([, , number]) => Number(number))) };
}

export function hideMessage(veil: Veil, message: Message): Message {
  if (message.role === "tools") {
    return { ...message, results: message.results.map((result) => ({ ...result, text: veil.hide(result.text) })) };
  }
  const text = veil.hide(message.text);
  if (message.role === "user") return { ...message, text };
  return { ...message, text, calls: message.calls.map((call) => ({ ...call, input: veil.hideAll(call.input) })) };
}

/** The file with secrets replaced by their names; the same object if it holds none. `path` decides how it is searched. */
export function hideFile(veil: Veil, path: string, file: FileBlob): FileBlob {
  const isBinary = file.bytes.subarray(0, 8000).includes(0) && !isWide(file.bytes);
  const bytes = isBinary ? file.bytes : veil.hideBytes(file.bytes, mannerOfFile(path));
  return bytes === file.bytes ? file : { ...file, bytes };
}

/** `renderChanges` with names in place of secrets, found in whole files: an excerpt of a key no longer looks like one. */
export function renderHidden(changes: readonly Change[], known: readonly string[] = []): string {
  const veil = createVeil({ known });
  const hide = (path: string, blob: Blob | null) => (blob?.kind === "file" ? hideFile(veil, path, blob) : blob);
  const seen = (change: Change): Change => ({
    ...change,
    before: hide(change.from ?? change.path, change.before),
    after: hide(change.path, change.after),
  });
  return veil.show(finish(renderSteps(changes, seen)));
}
