/** Commands and skills from files: the user's own, and a project's if the user trusts their current content. */

import { join } from "node:path";
import { digest } from "../core/digest.ts";
import { orNull } from "../core/error.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { entryAt, namesOf } from "../system/lookups.ts";
import type { Places } from "./places.ts";
import { readRegular } from "./safe-file.ts";
import { trustOf } from "./trust.ts";

/** A prompt for a task (`/NAME`), or instructions for a kind of work (a skill). */
export interface PromptFile {
  readonly kind: "command" | "skill";
  readonly name: string;
  readonly about: string;
  readonly body: string;
  readonly path: string | null;
}

const projectFolder = ".pai";
const nameShape = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const maxFiles = 100;
const maxCharacters = 64 * 1024;
const maxAbout = 200;

const namesIn = (folder: string, follow: boolean): readonly string[] =>
  follow || orNull(() => entryAt(folder))?.isDirectory() === true ? namesOf(folder).toSorted().slice(0, maxFiles) : [];

function readText(file: string, follow: boolean): string | null {
  const text = orNull(() => readRegular(file, { follow }));
  return text === null || text.length > maxCharacters ? null : text;
}

/** The value of `name:` in the front matter of a file; it may continue on indented lines. */
function fieldOf(head: string, name: string): string {
  const [, value = "", more = ""] = new RegExp(`^${name}:[ \\t]*(.*)((?:\\n[ \\t]+.*)*)`, "m").exec(head) ?? [];
  const text = /^[>|][+-]?$/.test(value.trim()) ? more : value + more;
  const plain = text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^(["'])(.*)\1$/, "$2");
  return maskSecrets(plain).slice(0, maxAbout);
}

function parse(text: string): Pick<PromptFile, "about" | "body"> {
  const [whole = "", head = ""] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  return { about: fieldOf(head.replaceAll("\r\n", "\n"), "description"), body: text.slice(whole.length).trim() };
}

/** `prefix`: how paths in the project begin; null: it is the user's own folder. */
function findBelow(folder: string, prefix: string | null) {
  const follow = prefix === null;
  if (namesIn(folder, follow).length === 0) return [];
  const add = (kind: PromptFile["kind"], name: string, below: string) => {
    const text = nameShape.test(name) ? readText(join(folder, below), follow) : null;
    if (text === null) return [];
    const path = prefix === null ? null : `${prefix}/${below}`;
    const file: PromptFile = { kind, name, path, ...parse(text) };
    return [{ file, path: path ?? below, text }];
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

/** The files of a project; `digest` depends on every byte of them. null: it has none. */
export function readProjectPrompts(root: string) {
  const found = findBelow(join(root, projectFolder), projectFolder);
  if (found.length === 0) return null;
  const texts = found.map(({ path, text }) => ({ path, text }));
  return { files: found.map(({ file }) => file), texts, digest: digest(JSON.stringify(texts)) };
}

/**
 * `files`: the usable ones, the user's own first, then the project's if it is trusted; one of each name. `waiting`: names of
 * the project's if it is not. Throws config_invalid if others may write the trust file.
 */
export function findPrompts(places: Places, root: string) {
  const own = places.configDir === null ? [] : findBelow(places.configDir, null).map(({ file }) => file);
  const project = readProjectPrompts(root);
  const trust = project === null ? null : trustOf(places, "prompts", root, project.digest);
  const isTrusted = trust === "trusted";
  const all = [...own, ...(isTrusted ? (project?.files ?? []) : [])];
  const files = [...new Map([...all].reverse().map((file) => [`${file.kind} ${file.name}`, file])).values()].reverse();
  return { files, waiting: isTrusted ? [] : (project?.files ?? []).map(({ name }) => name), trust };
}
