/** Reads one header line of the action script: its command, its arguments, and the tag that closes its body. */

import { orNull } from "../error.ts";
import { type Form, ownName, rowOf } from "../vocabulary.ts";
import type { ScriptAction } from "./script.ts";

/** What a header begins. `tag` null: the header names no tag for its body. */
export type Header =
  | { readonly kind: "action"; readonly action: Omit<ScriptAction, "line"> }
  | {
      readonly kind: "body";
      readonly cmd: "WRITE" | "MODIFY" | "FINISH";
      readonly path: string;
      readonly tag: string | null;
    }
  | { readonly kind: "fault"; readonly text: string };

const readers: Readonly<Record<Form, (name: string, rest: string) => Header>> = {
  path: readTarget,
  folder: (name, rest) => readTarget(name, rest === "" ? "." : rest),
  lines: readLines,
  pair: (name, rest) => readTwo(name, rest, `two paths, ${name}::from::to (quote a path that holds ::)`),
  setting: (name, rest) => readTwo(name, rest, `a path and a value, ${name}::path::value`),
  pattern: (name, rest) => readRest(name, rest, "a pattern"),
  word: (name, rest) => ({ kind: "action", action: { cmd: name, arg: rest } }),
  command: (name, rest) => readRest(name, rest, "a command"),
  nothing: (name) => ({ kind: "action", action: { cmd: name } }),
  content: (_, rest) => readBodied("WRITE", rest),
  edits: (_, rest) => readBodied("MODIFY", rest),
  message: (_, rest) => readFinish(rest),
  withdrawal: (name, rest) => readRest(name, rest, "the path of a planned step and a reason: SKIP::path::why"),
  amendment: (name, rest) => readRest(name, rest, "an action, a path and a reason: AMEND::MODIFY::path::why"),
};

/** Null: no header. `tag`: the prompt's, which careless models also put after the path of other actions. */
export function readHeader(line: string, tag: string | null = null): Header | null {
  const header = readCommand(line);
  if (tag === null || header?.kind === "body" || !line.endsWith(`::${tag}`)) return header;
  const isPath = header?.kind === "fault" || (header?.kind === "action" && header.action.path?.endsWith(`::${tag}`));
  return isPath ? readCommand(line.slice(0, -tag.length - 2)) : header;
}

function readCommand(line: string): Header | null {
  const split = line.indexOf("::");
  if (split < 0 || split > 16) return null;
  const row = rowOf(ownName(line.slice(0, split)));
  return row === null ? null : readers[row.form](row.name, line.slice(split + 2).trim());
}

/** Marks of the model's own format that some servers leave around a reply. */
const startTokens = /^\s*(?:<\|[^|<>\s]+\|>(?:assistant)?)+/;
const endTokens = /(?<![\s:])(?:<\|\w+\|>|<\/s>|<end_of_turn>|<eos>)+\s*$/;
/** How a line with end tokens ends: always in `>`. */
const endings = ["|>", "</s>", "<end_of_turn>", "<eos>"];
const listMarks = /^[\s\u200B\u2060]*(?:(?:[-*+•]|#{2,6}|\d+[.)]|->|→)\s+)*/;

export const withoutEndTokens = (line: string): string =>
  line.endsWith(">") && endings.some((ending) => line.endsWith(ending)) ? line.replace(endTokens, "") : line;

/** The line without the list marks, headings, arrows, back-ticks and bold marks that models put around a header. */
export function undecorate(line: string): string {
  const bare = withoutEndTokens(line.trimEnd()).trimEnd();
  if (/^[A-Za-z]/.test(bare)) return bare;
  let text = bare.replace(startTokens, "").replace(listMarks, "");
  for (let layer = 0; layer < 2; layer++) {
    const mark = /^(?:\*\*|`)/.exec(text)?.[0];
    if (mark === undefined) break;
    const end = text.lastIndexOf(mark);
    text = text.slice(mark.length, end === 0 ? undefined : end).replace(listMarks, "");
  }
  return text;
}

export const isTag = (text: string): boolean => /^[A-Z][A-Z0-9_]{1,15}$/.test(text);

function readTarget(cmd: string, rest: string): Header {
  const path = readWholePath(rest);
  return path === "" ? { kind: "fault", text: `${cmd} needs a path` } : { kind: "action", action: { cmd, path } };
}

const readRest = (cmd: string, arg: string, what: string): Header =>
  arg === "" ? { kind: "fault", text: `${cmd} needs ${what}` } : { kind: "action", action: { cmd, arg } };

function readLines(name: string, rest: string): Header {
  const split = rest.lastIndexOf("::");
  const arg = split < 0 ? "" : rest.slice(split + 2).trim();
  if (!/^\d+(?:-\d+)?$/.test(arg)) return readTarget(name, rest);
  const path = readWholePath(rest.slice(0, split).trim());
  return path === ""
    ? { kind: "fault", text: `${name} needs a path` }
    : { kind: "action", action: { cmd: name, path, arg } };
}

/** `what`: what a line of it holds, in words and in the form. */
function readTwo(name: string, rest: string, what: string): Header {
  const { path, after } = splitPath(rest);
  const second = splitPath(after ?? "");
  return path === "" || second.path === "" || second.after !== null
    ? { kind: "fault", text: `${name} needs ${what}` }
    : { kind: "action", action: { cmd: name, path, to: second.path } };
}

function readBodied(cmd: "WRITE" | "MODIFY", rest: string): Header {
  const { path, after } = splitPath(rest);
  const third = after ?? "";
  const last = third
    .slice(third.lastIndexOf("::") + 1)
    .replace(/^:/, "")
    .trim();
  return { kind: "body", cmd, path, tag: isTag(last) ? last : null };
}

const readFinish = (rest: string): Header =>
  isTag(rest)
    ? { kind: "body", cmd: "FINISH", path: "", tag: rest }
    : { kind: "action", action: { cmd: "FINISH", arg: rest, next: [] } };

/** The whole text as one path: it is not cut at `::`, so that RM::a::b can never remove a. */
function readWholePath(text: string): string {
  const split = splitPath(text);
  return split.after === null ? split.path : text;
}

/** A path, quoted as JSON or plain up to the next `::`, and the rest of the line. */
export function splitPath(text: string): { readonly path: string; readonly after: string | null } {
  const quoted = text.startsWith('"') ? splitQuoted(text) : null;
  if (quoted !== null) return quoted;
  const split = text.indexOf("::");
  const bare = (split < 0 ? text : text.slice(0, split)).trim();
  const path = /^(['`])(.+)\1$/s.exec(bare)?.[2] ?? bare;
  return { path, after: split < 0 ? null : text.slice(split + 2).trim() };
}

function splitQuoted(text: string): { readonly path: string; readonly after: string | null } | null {
  let end = 1;
  while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  const after = text.slice(end + 1).trim();
  if (after !== "" && !after.startsWith("::")) return null;
  const path = orNull((): unknown => JSON.parse(text.slice(0, end + 1)));
  return typeof path === "string" ? { path, after: after === "" ? null : after.slice(2).trim() } : null;
}
