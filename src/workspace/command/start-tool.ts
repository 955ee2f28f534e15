/** Starts an MCP server in the sandbox, with the workspace read-only or as a copy that is discarded. */
import { PaiError } from "../../core/error.ts";
import { removeLayers } from "../sandbox/layers.ts";
import type { Sandbox } from "../sandbox/open-sandbox.ts";

/** How long the last output of an ended server is still read, in milliseconds. */
const drainMs = 1000;

export interface ToolProgram {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ToolProcess {
  readonly input: ReadableStream<Uint8Array>;
  readonly write: (text: string) => void;
  readonly kill: () => void;
}

/**
 * `path`: folders in which a program name without a slash is searched, as in PATH. Throws sandbox_missing if no sandbox
 * keeps the server off the workspace, failed if there is no such program.
 */
export async function startTool(sandbox: Sandbox, { argv, env }: ToolProgram, path: string): Promise<ToolProcess> {
  const [name = "", ...rest] = argv;
  const program = name.includes("/") ? name : Bun.which(name, { PATH: path });
  if (program === null) throw new PaiError("failed", `${name} was not found in PATH`);
  const { proposes, level, why } = await sandbox.state();
  const missing = () =>
    new PaiError(
      "sandbox_missing",
      `MCP servers need a sandbox that keeps them off the project, and none works here${why === null ? "" : ` (${why})`}`,
      { hint: "see: pai doctor" },
    );
  if (!proposes && level !== "L2" && level !== "L3b") throw missing();
  const layers = proposes ? await sandbox.makeLayers() : null;
  const request = { argv: () => [program, ...rest], env, by: "plan", stdin: "pipe", stderr: "pipe", layers } as const;
  const started = await sandbox.start({ ...request, readsOnly: !proposes });
  if (started === null) {
    if (layers !== null) removeLayers(layers);
    throw missing();
  }
  const { child, output, finish } = started;
  // Standard error is read and discarded, so that its pipe never fills up.
  void (async () => {
    for await (const _ of child.stderr as ReadableStream<Uint8Array>);
  })().catch(() => {});
  void child.exited.then(async () => {
    finish();
    if (layers !== null) removeLayers(layers);
    await Bun.sleep(drainMs);
    output.close();
  });
  const stdin = child.stdin as Bun.FileSink;
  return {
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
