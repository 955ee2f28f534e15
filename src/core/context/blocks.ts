/** Cuts a file into blocks that begin at definitions, and lists what it defines. Pure. */

interface Block {
  /** Lines, from 1, both included. */
  readonly from: number;
  readonly to: number;
  /** The name that the first line defines; null: it defines none, as far as pai can tell. */
  readonly name: string | null;
}

const minLines = 6;
const maxLines = 30;

const keywords =
  /^(\s{0,16})(?:export\s+|default\s+|declare\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|protected\s+|internal\s+|static\s+|final\s+|abstract\s+|sealed\s+|override\s+|virtual\s+|async\s+|unsafe\s+|inline\s+|extern\s+(?:"C"\s+)?|open\s+|data\s+|partial\s+|readonly\s+|const\s+(?=fn|enum)|local\s+)*(?:def|class|function\*?|fn|func|fun|struct|enum|trait|interface|impl|module(?!\.)|namespace|type|union|macro_rules!|defmodule|defp?|record|object|protocol|extension|sub|proc|package|contract|message|service)\b[\s*]*(?:<[^>]*>\s*)?(?:\([^)]*\)\s*)?(?:self\.)?["']?((?:\p{L}|[_$])(?:\p{L}|\p{N}|[_$.:!?])*)?/u;
const topLevel =
  /^(?:export\s+)?(?:declare\s+)?(?:const|let|var|val|static(?=\s+(?:mut\s+)?\w+\s*:)|pub const|pub static)\s+(?:mut\s+)?((?:\p{L}|[_$])(?:\p{L}|\p{N}|[_$])*)/u;
/** `Type name(` at the left edge, or with more indentation when a body opens on the same line. */
const cFunction = /^(?:[A-Za-z_][\w:<>,*&\s]*[\s*&])?([A-Za-z_~][\w:~]*)\s*\([^;]*(?:\{|,|\)|$)/;
const method =
  /^(?: {2}| {4}|\t|\t\t| {8})(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async|readonly|get|set|synchronized)\s+)*(?:[A-Za-z_$][\w$<>[\],.?]*\s+)?[*#]?([A-Za-z_$][\w$]*)\s*(?:<[^>]*>)?\([^;]*\)?\s*(?::[^;=]+|->[^;]+|throws [^{]+)?\{\s*$/;
const assigned = /^(?:module\.)?exports\.([\w$]+)\s*=|^([A-Z][\w$.]*|[a-z][\w$]*\.prototype\.[\w$]+)\s*=(?!=)/;
const heading = /^(?:#{1,4}\s+(.+)|(?:\[{1,2}([^\]]+)\]{1,2})|([\w.-]+):)\s*$/;
const notDefinition =
  /^\s*(?:if|for|while|switch|return|else|elif|catch|try|with|await|throw|case|do|new|delete|typeof|yield|assert|print|not|and|or|in|import|from|using|require|include)\b/;
/** In these languages a line that looks like a call may begin a function; elsewhere it is a call. */
const cEndings = /\.(?:c|h|cc|cpp|cxx|hh|hpp|m|mm|java|cs|dart)$/i;
const call = /^[\w.:]+\((?:.*[),])?;?$/;
const textEndings = /\.(?:md|mdx|markdown|ya?ml|toml|ini|cfg|rst|txt)$/i;

/** By the line of a file: the name that it defines, "" for one without (`impl` blocks), null where it defines nothing. */
export function openDefinitions(path: string): (line: string) => string | null {
  if (textEndings.test(path)) return headingIn;
  return cEndings.test(path) ? definitionIn : (line) => (call.test(line) ? null : definitionIn(line));
}

function headingIn(line: string): string | null {
  const [, title, section, key] = (line.length > 400 ? null : heading.exec(line)) ?? [];
  return title ?? section ?? key ?? null;
}

function definitionIn(line: string): string | null {
  if (line.length > 400 || line.trim() === "" || notDefinition.test(line)) return null;
  const word = keywords.exec(line);
  if (word !== null) return word[2] ?? "";
  const found = topLevel.exec(line) ?? cFunction.exec(line) ?? method.exec(line) ?? assigned.exec(line);
  return found === null ? null : (found[1] ?? found[2] ?? "");
}

export const linesOf = (text: string): string[] => {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
};

/** Lines `from` to `to` of a text, from 1. */
export function cutBytes(bytes: Uint8Array, from: number, to: number) {
  const lines = linesOf(new TextDecoder().decode(bytes));
  const last = Math.min(to, lines.length);
  return { text: lines.slice(from - 1, last).join("\n"), from, to: last, total: lines.length };
}

/** Blocks without gaps: a new one at each definition, but not before 6 lines and not after more than 30. */
export function cutBlocks(path: string, lines: readonly string[]): Block[] {
  const nameIn = openDefinitions(path);
  const blocks: Block[] = [];
  let from = 0;
  let name: string | null = null;
  for (const [at, line] of lines.entries()) {
    const found = nameIn(line);
    const size = at - from;
    if (size > 0 && ((found !== null && size >= minLines) || size >= maxLines)) {
      blocks.push({ from: from + 1, to: at, name });
      [from, name] = [at, found];
    } else if (found !== null && (name === null || at === 0)) name = found;
  }
  if (from < lines.length) blocks.push({ from: from + 1, to: lines.length, name });
  return blocks;
}

/** Every nth entry, separated by commas; null: more than `maxLength` characters, found out without joining them all. */
function joinEvery(step: number, entries: readonly string[], maxLength: number): string | null {
  let text = entries[0] ?? "";
  for (let at = step; at < entries.length && text.length <= maxLength; at += step) text += `, ${entries[at]}`;
  return text.length <= maxLength ? text : null;
}

/** What a file defines, as `name line, name line`, within `budget` characters: if needed, only every nth name. */
export function outlineOf(path: string, lines: readonly string[], budget: number): string {
  const nameIn = openDefinitions(path);
  const entries = lines.flatMap((line, at) => {
    const name = nameIn(line);
    return name === null || name === "" || name.length > 60 ? [] : [`${name} ${at + 1}`];
  });
  for (let step = 1; step <= entries.length; step += 1) {
    const end = step === 1 ? "" : ` (1 of ${step})`;
    const kept = joinEvery(step, entries, budget - end.length);
    if (kept !== null) return kept + end;
  }
  return "";
}

const maxOfHead = 80;

/** Of a changelog how many lines it has up to its second heading of a release: an entry goes among them. */
export function headOfChangelog(lines: readonly string[]): number {
  const isHeading = (line: string, at: number) =>
    /^#{1,3}\s|^\[?v?\d+\.\d+/.test(line) || /^[-=~]{3,}\s*$/.test(lines[at + 1] ?? "");
  const heads = lines.flatMap((line, at) =>
    line.trim() !== "" && isHeading(line, at) && /\d|unreleased|next/i.test(line) ? [at] : [],
  );
  return Math.max(heads[1] ?? Math.min(lines.length, maxOfHead), 1);
}

const atEnds = { first: 30, last: 15 } as const;

/** Of the head of a changelog the places where an entry goes: of a long one both ends. */
export function placesForEntry(lines: readonly string[]): readonly { readonly from: number; readonly to: number }[] {
  const to = headOfChangelog(lines);
  if (to <= atEnds.first + atEnds.last) return [{ from: 1, to }];
  return [
    { from: 1, to: atEnds.first },
    { from: to - atEnds.last + 1, to },
  ];
}
