/** Looks for model servers on this machine and says who runs them; never uses one. */
import { readFileSync } from "node:fs";
import type { Context } from "./command.ts";
import { probe } from "./probe.ts";

export interface LocalServer {
  readonly url: string;
  /** Kind of server that usually listens there. */
  readonly usual: string;
  /** User id of who listens; null: unknown. */
  readonly uid: number | null;
  readonly models: readonly string[];
}

const usualPorts = [
  [11434, "Ollama"],
  [8080, "llama.cpp"],
  [8000, "vLLM"],
  [1234, "LM Studio"],
] as const;

/** Asks the usual ports of loopback at once; silence of half a second is nobody. */
export async function findLocalServers({
  env,
  signal,
}: Pick<Context, "env" | "signal">): Promise<readonly LocalServer[]> {
  const found = await Promise.all(
    usualPorts.map(async ([port, usual]) => {
      const uid = findListener(port);
      if (uid === undefined) return null;
      const url = `http://127.0.0.1:${port}/v1`;
      const options = { provider: "local", headers: {}, env, timeoutMs: 500, signal };
      const answer = await probe(`${url}/models`, options).catch(() => null);
      const models = answer?.status === 200 ? readModels(answer.body) : null;
      return models === null ? null : { url, usual, uid, models };
    }),
  );
  return found.filter((server) => server !== null);
}

/** User id of the listener, null when the kernel does not say, undefined when nobody listens. */
function findListener(port: number): number | null | undefined {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const listening = "0A";
  try {
    const rows = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) => readFileSync(file, "utf8").split("\n"));
    const row = rows
      .map((line) => line.trim().split(/\s+/))
      .find(([, local = "", , state]) => state === listening && local.endsWith(`:${wanted}`));
    return row === undefined ? undefined : Number(row[7]);
  } catch {
    return null;
  }
}

/** null: no list of models, so no model server. */
function readModels(body: string): readonly string[] | null {
  try {
    const { data } = JSON.parse(body) as { readonly data: readonly { readonly id: unknown }[] };
    return data.map(({ id }) => String(id).slice(0, 100));
  } catch {
    return null;
  }
}
