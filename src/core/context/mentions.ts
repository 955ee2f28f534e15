/** Finds the words of a text that may be paths, with line numbers, in the forms that people and tools write. Pure. */
import { nameOf } from "../path.ts";

export interface Mention {
  /** With slashes, without a leading `./`. */
  readonly text: string;
  /** From 1; null: none is named. */
  readonly line: number | null;
}

const word = /(?:\p{L}|\p{N}|[_.@+/\\~[\]()$-])+/gu;
/** The line behind a path: `:12`, `(12,`, `", line 12`, ` on line 12`, `:line 12`, `#L12`, or ` 12:5` as bundlers do. */
const lineBehind = /^(?:["'`)\]]{0,2},? (?:at |on |in )?line |["'`]?(?::line |:|\(|#L)| (?=\d+:\d))(\d{1,7})/;
/** A class, its method, and in brackets the bare name of its file. */
const frame =
  /^(?:.*\/)?((?:(?:\p{L}|[_$])(?:\p{L}|\p{N}|[_$])*\.)+)(?:\p{L}|\p{N}|[_$])+\((\p{L}(?:\p{L}|\p{N}|[_$])*\.(?:java|kt|scala|groovy))$/u;
/** Files without an ending. In capitals: `license` and `notice` are words like others. */
const bareNames = /^(?:[A-Z]\w+file|BUILD|WORKSPACE|LICEN[CS]E|COPYING|NOTICE|AUTHORS|CODEOWNERS|README|CHANGELOG)$/;

const partOfName = /\p{L}|\p{N}|[_-]/u;
const maxPath = 1_024;
const isPath = (text: string) => /[./]/.test(text) || bareNames.test(text);
const lineAt = (text: string, at: number): number | null => {
  const line = lineBehind.exec(text.slice(at, at + 32))?.[1];
  return line === undefined ? null : Number(line);
};
const clean = (text: string) => text.replaceAll("\\", "/").replace(/^(?:\.\/)+/, "");

/** The paths that a word may hold, and where each ends in it, without brackets around or after them. */
function* pathsOf(found: string): Generator<{ readonly text: string; readonly end: number }> {
  const start = /^[([]+/.exec(found)?.[0].length ?? 0;
  const cut = found.search(/\(\d+$|\(\d+[),]/);
  const whole = found.slice(0, cut < 0 ? undefined : cut).replace(/[.)\]]+$/, "");
  // A folder may have brackets in its name: `app/(shop)/[id]/page.tsx`.
  if (/[([].*[)\]]/.test(whole.slice(start)) && whole.includes("/"))
    yield { text: whole.slice(start), end: whole.length };
  for (const { 0: piece, index } of found.matchAll(/[^()[\]]+/g)) {
    const bare = piece.replace(/\.+$/, "");
    yield { text: bare, end: index + bare.length };
  }
}

/** Where a text names a file with a space in its path: no word of the text holds it. `paths`: the project's files. */
export function* spacedIn(text: string, paths: readonly string[]): Generator<Mention> {
  for (const path of paths) {
    if (!path.includes(" ")) continue;
    const name = nameOf(path);
    // Without a folder or an ending it may be a part of any sentence.
    const names = (name.includes(" ") ? [path, name] : [path]).filter((each) => /[./]/.test(each));
    for (const each of new Set(names))
      for (let at = text.indexOf(each); at >= 0; at = text.indexOf(each, at + each.length))
        if (!partOfName.test(text[at - 1] ?? " ")) yield { text: each, line: lineAt(text, at + each.length) };
  }
}

/** A row of a linter's report, below a line that holds only a path: `  12:5  error  …`. */
const row = /^\s+(\d{1,7}):\d{1,5}\s/;

function* rowsOf(text: string): Generator<Mention> {
  let above = "";
  for (const line of text.split(/\r?\n/)) {
    const found = row.exec(line)?.[1];
    if (found !== undefined && above !== "") yield { text: above, line: Number(found) };
    else above = /^\S+$/.test(line) && isPath(line) ? clean(line) : "";
  }
}

/** A frame of the JVM: `com.shop.Cart.total(Cart.java:12)`. The package tells which file of that name is meant. */
function* framesOf(found: string, line: number | null): Generator<Mention> {
  const [, owner = "", file = ""] = frame.exec(found) ?? [];
  if (file === "") return;
  const folder = owner.split(".").slice(0, -2).join("/");
  yield { text: folder === "" ? file : `${folder}/${file}`, line };
  // Other languages than Java need no folders for their packages.
  if (!file.endsWith(".java") && folder !== "") yield { text: file, line };
}

export function* mentionsIn(said: string): Generator<Mention> {
  // Java writes constructors and class initializers as `<init>` and `<clinit>`.
  const text = said.replace(/\.<(?:cl)?init>\(/g, ".init(");
  for (const { 0: found, index } of text.matchAll(word)) {
    // Behind `*` stands the rest of a pattern.
    if (found.length > maxPath || (text[index - 1] === "*" && /^\/|^\.(?!\/)/.test(found))) continue;
    const frames = [...framesOf(found, lineAt(text, index + found.length))];
    yield* frames;
    const paths = frames.length > 0 ? [] : pathsOf(found);
    for (const { text: path, end } of paths)
      if (isPath(path)) yield { text: clean(path), line: lineAt(text, index + end) };
  }
  yield* rowsOf(text);
}

const passed = /\bPASS(?:ED)?\b|^\s*(?:✓|✔|ok\b|\(pass\)|--- PASS)|\.\.\. ok$/;

/** Characters at the end of an output that may name something. */
const outputTail = 12_000;

/** The lines at the end of an output without those about what passed: these name files, too. */
export const linesTold = (output: string): readonly string[] =>
  output
    .slice(-outputTail)
    .split("\n")
    .filter((line) => !passed.test(line));

/** A text with the targets of links in the place of the links. `links`: by the link's path, the path of its target. */
export function throughLinks(text: string, links: ReadonlyMap<string, string>): string {
  let through = text;
  for (const [path, target] of links) {
    if (!through.includes(path)) continue;
    // At the root a link may be called like any word.
    const end = path.includes("/") ? "(?![\\p{L}\\p{N}_.-]*[\\p{L}\\p{N}_-])" : "(?=/)";
    const shape = new RegExp(`(?<![\\p{L}\\p{N}_.-])${RegExp.escape(path)}${end}`, "gu");
    through = through.replace(shape, () => target);
  }
  return through;
}
