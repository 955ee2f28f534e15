/** Starts an MCP server in the sandbox, with the workspace read-only or as a copy that is discarded. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { PaiError } from "../../core/error.ts";
import type { ServerLink } from "../../core/ports.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { waitAtMost } from "../../core/steps.ts";
import { entriesBelow } from "../../system/lookups.ts";
import { removeLayers } from "../sandbox/find-level.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";

/** Milliseconds in which the last output of an ended server is still read. */
const drainMs = 1000;
const kept = { characters: 4000, lines: 12, shown: 1000 } as const;
const maxEntries = 2000;

export interface ToolProgram {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** `path`: as PATH. Throws sandbox_missing, and failed if there is no such program. */
export async function startTool(sandbox: Sandbox, { argv, env }: ToolProgram, path: string): Promise<ServerLink> {
  const [name = "", ...rest] = argv;
  const program = name.includes("/") ? name : Bun.which(name, { PATH: path });
  if (program === null) throw new PaiError("failed", `${name} was not found in PATH`);
  const { proposes, level, why } = await sandbox.state();
  const need = "MCP servers need a sandbox that keeps them off the project, and none works here";
  const text = why === null ? need : `${need} (${why})`;
  const missing = () => new PaiError("sandbox_missing", text, { hint: "see: pai doctor" });
  if (level === null) throw missing();
  const layers = proposes ? await sandbox.makeLayers() : null;
  const request = { argv: () => [program, ...rest], env, by: "plan", stdin: "pipe", stderr: "pipe", layers } as const;
  const started = await sandbox.start({ ...request, readsOnly: !proposes });
  if (started === null) {
    if (layers !== null) removeLayers(layers);
    throw missing();
  }
  const { child, output, finish } = started;
  let said = "";
  // Standard error is read to its end, so that its pipe never fills up.
  const heard = (async () => {
    const text = new TextDecoder();
    for await (const bytes of child.stderr as ReadableStream<Uint8Array>)
      said = (said + text.decode(bytes, { stream: true })).slice(-kept.characters);
  })().catch(() => {});
  void child.exited.then(() => {
    finish();
    if (layers !== null) removeLayers(layers);
    setTimeout(() => output.close(), drainMs).unref();
  });
  const stdin = child.stdin as Bun.FileSink;
  const written = new Map<string, string>();
  return {
    async explain() {
      await waitAtMost(Promise.all([child.exited, heard]), drainMs);
      const unseen = argv.find(sandbox.isUnseen);
      const exit = child.exitCode === null ? "" : `, exit ${child.exitCode}`;
      const how = child.signalCode === null ? exit : `, by ${child.signalCode}`;
      const why = `; ${unseen} lies in a folder of which a server has an empty one: --allow-read opens it`;
      return `${how}${unseen === undefined ? "" : why}${renderLastWords(said)}`;
    },
    takeWritten: () => (layers === null ? [] : findWritten(layers.upper, written)),
    input: output.stream,
    write(text) {
      try {
        stdin.write(text);
        void Promise.resolve(stdin.flush()).catch(() => {});
      } catch {
        // The server has ended, so pending requests fail.
      }
    },
    kill() {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        child.kill("SIGKILL");
      }
    },
  };
}

function renderLastWords(said: string): string {
  const lines = maskSecrets(said)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
  const words = lines.slice(-kept.lines).join("\n").slice(-kept.shown);
  return words === "" ? "" : `; it said on standard error:\n${words}`;
}

/** Files that are not in `known` as they are now; adds them to it. */
function findWritten(upper: string, known: Map<string, string>): readonly string[] {
  const found = filesBelow(upper).filter(([path, state]) => known.get(path) !== state);
  for (const [path, state] of found) known.set(path, state);
  return found.map(([path]) => path).sort();
}

/** With what tells its content from another. */
const filesBelow = (top: string): readonly (readonly [path: string, state: string])[] =>
  [...entriesBelow(top, () => true, maxEntries)].flatMap(([folder, entry]) => {
    const path = join(folder, entry.name);
    const stat = entry.isDirectory() ? undefined : lstatSync(join(top, path), { throwIfNoEntry: false });
    return stat === undefined ? [] : [[path, `${stat.mode} ${stat.size} ${stat.mtimeMs} ${stat.ino}`] as const];
  });
