/** Actions that look at the project as a whole or at the machine: MAP_ROOT, SNIFF_LOGS, DIAGNOSE, PROFILE. */

import * as z from "zod/mini";
import { quoteForShell } from "../core/command/quote.ts";
import { findStacks, usualFolders } from "../core/context/stack.ts";
import type { RelPath } from "../core/path.ts";
import type { Entry, Stage } from "../core/ports.ts";
import { defineAction } from "./read-input.ts";

const nameOf = ({ path }: Entry) => path.slice(path.lastIndexOf("/") + 1);
const mark = (entry: Entry) => (entry.kind === "folder" ? `${nameOf(entry)}/` : nameOf(entry));

/** A folder's children in one line: the names of the first five, and the number of the others. */
async function renderFolder(stage: Stage, folder: Entry): Promise<string> {
  const children = await stage.list(folder.path);
  const shown = children.slice(0, 5).map(mark).join(" ");
  return `${folder.path}/: ${shown}${children.length > 5 ? ` +${children.length - 5}` : ""}`;
}

export const mapRoot = defineAction("MAP_ROOT", {
  input: () => z.object({ path: z.optional(z.string()) }),
  async propose({ path }, stage) {
    const folder = stage.path(path || ".", "list");
    const entries = await stage.list(folder);
    const files = entries.filter(({ kind }) => kind === "file");
    const found = findStacks(new Set(files.map(nameOf)));
    const folders = entries.filter((entry) => entry.kind === "folder" && usualFolders.includes(nameOf(entry)));
    const lines = [
      `stack: ${found.length === 0 ? "unknown" : found.map(({ name, by }) => `${name} (${by})`).join(", ")}`,
      ...(await Promise.all(folders.map((each) => renderFolder(stage, each)))),
      `files here: ${files.slice(0, 10).map(nameOf).join(" ") || "none"}${files.length > 10 ? ` +${files.length - 10}` : ""}`,
    ];
    return { kind: "answer", text: lines.join("\n") };
  },
});

const logFolders: readonly string[] = ["logs", "log", "storage/logs", "var/log"];
const maxHits = 50;

export const sniffLogs = defineAction("SNIFF_LOGS", {
  input: () => z.object({ pattern: z.optional(z.string()) }),
  async propose({ pattern = "" }, stage, signal) {
    const wanted = pattern === "" || pattern === "." ? "error" : pattern;
    const lines: string[] = [];
    for (const name of logFolders) {
      const under = stage.path(name, "list");
      if ((await stage.read(under))?.kind !== "folder") continue;
      const query = {
        pattern: wanted,
        ignoreCase: true,
        under,
        include: null,
        maxHits: maxHits,
        staged: new Map<RelPath, Uint8Array | null>(),
      };
      const { hits, more } = await stage.search(query, signal);
      lines.push(...hits.map((hit) => `${hit.path}:${hit.line}:${hit.text}`), ...(more ? [`(more in ${name})`] : []));
    }
    return { kind: "answer", text: lines.length === 0 ? `no ${wanted} in ${logFolders.join(", ")}` : lines.join("\n") };
  },
});

export const diagnose = defineAction("DIAGNOSE", {
  input: () => z.object({ pattern: z.optional(z.string()), path: z.optional(z.string()) }),
  async propose({ pattern = "", path = "" }, stage, signal) {
    if (stage.host === undefined)
      return { kind: "complaint", code: "nothing_done", text: "this machine cannot be looked at here" };
    return { kind: "answer", text: await stage.host(`${pattern} ${path}`.trim(), signal), foreign: true };
  },
});

export const profile = defineAction("PROFILE", {
  input: () => z.object({ path: z.string().check(z.minLength(1)) }),
  async propose({ path: text }, stage) {
    const path = stage.path(text, "read");
    return { kind: "command", command: `python3 -m cProfile -s cumulative ${quoteForShell(`./${path}`)} | head -50` };
  },
});
