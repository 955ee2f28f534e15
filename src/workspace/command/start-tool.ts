/** Starts a server of tools in the sandbox, on a copy of the workspace that is thrown away: it changes nothing that was not promised. */
import { PaiError } from "../../core/error.ts";
import { makeLayers, removeLayers } from "../sandbox/layers.ts";
import type { Sandbox } from "../sandbox/open.ts";

export interface ToolProgram {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface ToolProcess {
  readonly input: ReadableStream<Uint8Array>;
  readonly write: (text: string) => void;
  readonly kill: () => void;
}

/** Throws sandbox_missing where no copy of the workspace can be had. */
export async function startTool(sandbox: Sandbox, { argv, env }: ToolProgram): Promise<ToolProcess> {
  const { proposes, why } = await sandbox.state();
  const missing = () =>
    new PaiError(
      "sandbox_missing",
      `MCP servers need a sandbox that keeps them off the project, and none holds here${why === null ? "" : ` (${why})`}`,
      { hint: "see: pai doctor" },
    );
  if (!proposes) throw missing();
  const layers = makeLayers(sandbox.scratch);
  const started = await sandbox.start({ argv: () => argv, env, by: "plan", stdin: "pipe", stderr: "pipe", layers });
  if (started === null) {
    removeLayers(layers);
    throw missing();
  }
  const { child, finish } = started;
  // What it says of itself on standard error is nobody's business, and must not fill its pipe.
  void (async () => {
    for await (const _ of child.stderr as ReadableStream<Uint8Array>);
  })().catch(() => {});
  void child.exited.then(() => {
    finish();
    removeLayers(layers);
  });
  const stdin = child.stdin as Bun.FileSink;
  return {
    input: child.stdout as ReadableStream<Uint8Array>,
    write(text) {
      try {
        stdin.write(text);
        void Promise.resolve(stdin.flush()).catch(() => {});
      } catch {
        // It has ended: whoever waits for an answer is told.
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
