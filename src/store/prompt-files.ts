/** Commands and skills that are files: of the user, and of a project once the user trusts them as they are. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { digest } from "../core/digest.ts";
import type { Places } from "./places.ts";
import { readRegular } from "./safe-file.ts";
import { promptTrustOf, type Trust } from "./trust.ts";

/** A text that stands for a task (`/NAME`), or that tells how to do a kind of work (a skill). */
export interface PromptFile {
  readonly kind: "command" | "skill";
  readonly name: string;
  /** One line; "" where the file gives none. */
  readonly about: string;
  readonly body: string;
  /** Relative to the project; null: it is the user's own. */
  readonly path: string | null;
}

/** Those of a project, and what the user thinks of them; `digest` changes with every byte of them. */
export interface ProjectPrompts {
  readonly files: readonly PromptFile[];
  readonly texts: readonly { readonly path: string; readonly text: string }[];
  readonly digest: string;
}

const projectFolder = ".pai";
const nameShape = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const maxFiles = 100;
const maxCharacters = 64 * 1024;
const maxAbout = 200;

/** Names in a real folder: what a link leads to does not belong to the project. */
function namesIn(folder: string, follow: boolean): readonly string[] {
  try {
    if (!follow && !lstatSync(folder).isDirectory()) return [];
    return readdirSync(folder).sort().slice(0, maxFiles);
  } catch {
    return [];
  }
}

function readText(file: string, follow: boolean): string | null {
  try {
    const text = readRegular(file, { follow });
    return text === null || text.length > maxCharacters ? null : text;
  } catch {
    return null;
  }
}

/** What follows `name:` at the top of a file between two lines of dashes, also folded over the lines below it. */
function fieldOf(head: string, name: string): string {
  const [, value = "", more = ""] = new RegExp(`^${name}:[ \\t]*(.*)((?:\\n[ \\t]+.*)*)`, "m").exec(head) ?? [];
  const text = /^[>|][+-]?$/.test(value.trim()) ? more : value + more;
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^(["'])(.*)\1$/, "$2")
    .slice(0, maxAbout);
}

function parse(text: string): Pick<PromptFile, "about" | "body"> {
  const [whole = "", head = ""] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  return { about: fieldOf(head.replaceAll("\r\n", "\n"), "description"), body: text.slice(whole.length).trim() };
}

interface Found {
  readonly file: PromptFile;
  readonly path: string;
  readonly text: string;
}

/** `commands/NAME.md` and `skills/NAME/SKILL.md` below a folder. */
function findBelow(folder: string, prefix: string | null): readonly Found[] {
  const follow = prefix === null;
  if (namesIn(folder, follow).length === 0) return [];
  const add = (kind: PromptFile["kind"], name: string, below: string): readonly Found[] => {
    const text = nameShape.test(name) ? readText(join(folder, below), follow) : null;
    if (text === null) return [];
    const path = prefix === null ? null : `${prefix}/${below}`;
    return [{ file: { kind, name, path, ...parse(text) }, path: path ?? below, text }];
  };
  const commands = namesIn(join(folder, "commands"), follow).filter((name) => name.endsWith(".md"));
  const skills = namesIn(join(folder, "skills"), follow).filter(
    (name) => namesIn(join(folder, "skills", name), follow).length > 0,
  );
  return [
    ...commands.flatMap((name) => add("command", name.slice(0, -3), `commands/${name}`)),
    ...skills.flatMap((name) => add("skill", name, `skills/${name}/SKILL.md`)),
  ];
}

/** Those of a project, whatever the user thinks of them; null: it has none. */
export function readProjectPrompts(root: string): ProjectPrompts | null {
  const found = findBelow(join(root, projectFolder), projectFolder);
  if (found.length === 0) return null;
  const texts = found.map(({ path, text }) => ({ path, text }));
  return { files: found.map(({ file }) => file), texts, digest: digest(JSON.stringify(texts)) };
}

export interface Prompts {
  /** That may be used: the user's own first, a project's where it is trusted; one of each name. */
  readonly files: readonly PromptFile[];
  /** Names of the project that wait for trust. */
  readonly waiting: readonly string[];
  /** Of the project's; null: it has none. */
  readonly trust: Trust | null;
}

/** Looks them up. Throws config_invalid for a trust file that others may write. */
export function findPrompts(places: Places, root: string): Prompts {
  const own = places.configDir === null ? [] : findBelow(places.configDir, null).map(({ file }) => file);
  const project = readProjectPrompts(root);
  const trust = project === null ? null : promptTrustOf(places, root, project.digest);
  const isTrusted = trust === "trusted";
  const all = [...own, ...(isTrusted ? (project?.files ?? []) : [])];
  const files = [...new Map([...all].reverse().map((file) => [`${file.kind} ${file.name}`, file])).values()].reverse();
  return { files, waiting: isTrusted ? [] : (project?.files ?? []).map(({ name }) => name), trust };
}
