/** The actions that make of a path what one value says: LINK and MODE. They only propose; the run decides. */
import * as z from "zod/mini";
import { PaiError } from "../core/error.ts";
import type { Json } from "../core/model.ts";
import { parentOf, type RelPath, resolveFrom } from "../core/path.ts";
import type { Stage } from "../core/ports.ts";
import { makeParents, unusableFile } from "./change.ts";
import { type Action, defineAction } from "./read-input.ts";

interface Input {
  readonly path: string;
  readonly to: string;
}

const input = () => z.object({ path: z.string().check(z.minLength(1)), to: z.string().check(z.minLength(1)) });

/** How the tool-loop writes the value: by a name of its own. */
const toolOf = (name: string): NonNullable<Action<Input>["tool"]> => ({
  input: () => z.object({ path: z.string(), [name]: z.string() }),
  toInput(written) {
    const { path = null, [name]: to = null } = written as Readonly<Record<string, Json>>;
    return { path, to };
  },
});

/** The way from a folder to a path, both below the root. */
function wayFrom(folder: RelPath, path: RelPath): string {
  const [from, to] = [folder === "" ? [] : folder.split("/"), path.split("/")];
  let same = 0;
  while (same < from.length && from[same] === to[same]) same += 1;
  return [...from.slice(same).map(() => ".."), ...to.slice(same)].join("/");
}

const top = "" as RelPath;

/** What a link is to lead to: relative to the link, or else to the root, as models also write it. Throws path_refused. */
async function findTarget(stage: Stage, folder: RelPath, text: string): Promise<RelPath | null> {
  const spellings = text.startsWith("/") ? [text] : [resolveFrom(folder, text), resolveFrom(top, text)];
  if (spellings.every((each) => each === null))
    throw new PaiError("path_refused", `${text} leads out of the project: a link may only lead to what is in it`);
  for (const each of spellings) {
    if (each === null || each === "") continue;
    const path = stage.path(each, "read");
    if ((await stage.read(path).catch(() => undefined)) !== null) return path;
  }
  return null;
}

export const link = defineAction<Input>("LINK", {
  input,
  tool: toolOf("target"),
  async propose({ path: text, to }, stage) {
    const folder = parentOf(stage.path(text, "move"));
    const path = stage.path(text, "move");
    const target = await findTarget(stage, folder, to);
    if (target === null) return unusableFile(`${to} does not exist: a link may only lead to what is there`);
    if (target === path) return unusableFile(`${path} cannot lead to itself`);
    const way = wayFrom(folder, target);
    const before = await stage.read(path, 0).catch(() => undefined);
    if (before?.kind === "link" && before.target === way)
      return { kind: "change", changes: [], text: "already there, nothing to do" };
    if (before !== null) return unusableFile(`${path} exists: nothing is linked over it; RM it first`);
    const parents = await makeParents(stage, path);
    if (!Array.isArray(parents)) return parents as Exclude<typeof parents, readonly unknown[]>;
    const made = { path, before: null, after: { kind: "link", target: way } as const, from: null };
    return { kind: "change", changes: [...parents, made], text: `leads to ${target}` };
  },
});

export const mode = defineAction<Input>("MODE", {
  input,
  tool: toolOf("mode"),
  async propose({ path: text, to }, stage) {
    if (!/^0?[0-7]{3}$/.test(to))
      return unusableFile(`${to} is no mode: three octal digits, 000 to 777, without set-id and sticky bits`);
    const path = stage.path(text, "write");
    const before = await stage.read(path);
    if (before === null) return unusableFile(`${path} does not exist`);
    if (before.kind !== "file") return unusableFile(`${path} is a ${before.kind}: only files have their mode set`);
    const wanted = Number.parseInt(to, 8);
    const now = before.mode & 0o777;
    if (now === wanted) return { kind: "change", changes: [], text: "already so, nothing to do" };
    const change = { path, before, after: { ...before, mode: wanted }, from: null, exactMode: true } as const;
    return { kind: "change", changes: [change], text: `mode ${now.toString(8).padStart(3, "0")} → ${to.slice(-3)}` };
  },
});
