/** Custom commands and skills for tasks, from files of the user and of a trusted project. */
import { PaiError } from "../../core/error.ts";
import { didYouMean } from "../../core/suggest.ts";
import type { Places } from "../../store/places.ts";
import { findPrompts, type PromptFile } from "../../store/prompt-files.ts";

export interface CustomProject {
  readonly places: Places;
  readonly root: string;
}

const line = /^\/([a-z0-9][\w-]*)(?:\s+([\s\S]*))?$/i;

export const looksCustom = (text: string): boolean => line.test(text);

/** Replaces `$ARGUMENTS` and `$1` to `$9` by the arguments; if there are none of them, appends the arguments. */
function fill(body: string, typed: string): string {
  const words = typed.split(/\s+/).filter((word) => word !== "");
  const places = /\$(ARGUMENTS\b|[1-9](?!\d))/g;
  if (!places.test(body)) return typed === "" ? body : `${body}\n\n${typed}`;
  return body.replace(places, (_, name: string) => (name === "ARGUMENTS" ? typed : (words[Number(name) - 1] ?? "")));
}

/** Files that `/NAME` can name; a command wins over a skill of the same name. */
export function listCustom({ places, root }: CustomProject): readonly PromptFile[] {
  const { files } = findPrompts(places, root);
  const commands = new Set(files.flatMap(({ kind, name }) => (kind === "command" ? [name] : [])));
  return files.filter(({ kind, name }) => kind === "command" || !commands.has(name));
}

/** The task for `/NAME ARGS`; null: there is no such file. Throws untrusted for one of a project without trust. */
export function expandCustom(text: string, { places, root }: CustomProject): string | null {
  const [, given = "", typed = ""] = line.exec(text.trim()) ?? [];
  if (given === "") return null;
  const name = given.toLowerCase();
  const found = listCustom({ places, root }).find((file) => file.name === name);
  if (found === undefined) {
    const { waiting, trust } = findPrompts(places, root);
    if (!waiting.includes(name)) return null;
    const why = trust === "changed" ? "has changed since you trusted it" : "is not trusted";
    throw new PaiError("untrusted", `/${name} is a file of this project, which ${why}`, {
      hint: "pai trust shows it, and trusts it as it is",
    });
  }
  const task = fill(found.body, typed.trim());
  if (task.trim() === "") throw new PaiError("usage", `/${name} has no text`);
  return task;
}

export function unknownCustom(text: string, project: CustomProject): PaiError {
  const name = line.exec(text.trim())?.[1] ?? "";
  const names = listCustom(project).map((file) => file.name);
  const known = names.length === 0 ? "a command is a file: .pai/commands/NAME.md" : `there are: /${names.join(", /")}`;
  return new PaiError("usage", `unknown command: /${name}`, {
    hint: didYouMean(name, names, (near) => `/${near}`) ?? known,
  });
}

const maxSkills = 40;
const maxAbout = 200;

/** Describes a trusted project's skills to the model, which reads a file when it fits; null: there are none. */
export function describeSkills({ places, root }: CustomProject): string | null {
  const skills = findPrompts(places, root).files.filter(({ kind, path }) => kind === "skill" && path !== null);
  if (skills.length === 0) return null;
  const lines = skills
    .slice(0, maxSkills)
    .map(({ name, about, path }) => `- ${name}: ${about.slice(0, maxAbout) || "no description"} (${path})`);
  return `Skills of this project. Where one fits the request, READ its file first and work as it says:\n${lines.join("\n")}`;
}
