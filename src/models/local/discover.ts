/** Looks for model servers on this machine; never uses one. */
import { readModelList } from "../listing.ts";
import { probeModel } from "../probe.ts";

export interface FoundServer {
  /** Base URL of its Chat Completions, with `/v1`. */
  readonly url: string;
  /** The kind of server that usually listens on the port. */
  readonly usual: string;
  /** Who runs it; null: unknown. */
  readonly owner: string | null;
  readonly models: readonly string[];
}

export interface DiscoverOptions {
  readonly signal: AbortSignal;
  readonly ports?: readonly (readonly [port: number, usual: string])[];
  /** Who listens on a port of loopback; null: unknown. Absent: nobody is known. */
  readonly whoListens?: (port: number) => string | null;
}

const usualPorts = [
  [11434, "Ollama"],
  [8080, "llama.cpp"],
  [8000, "vLLM"],
  [1234, "LM Studio"],
] as const;
const timeoutMs = 200;
const answerLimit = 1_000_000;

/** Asks all usual ports of loopback at the same time; one that does not answer within 200 ms is left out. */
export async function findServers({ signal, ports = usualPorts, whoListens = () => null }: DiscoverOptions) {
  const found = await Promise.all(
    ports.map(async ([port, usual]) => {
      const url = `http://127.0.0.1:${port}/v1`;
      const models = await askModels(url, signal);
      return models === null ? null : { url, usual, owner: whoListens(port), models };
    }),
  );
  return found.filter((server) => server !== null);
}

export const renderServer = ({ url, usual, owner, models }: FoundServer): string =>
  `${url} (usually ${usual}), run by ${owner ?? "somebody"}: ${models.slice(0, 5).join(", ") || "no models"}`;

/** The names of a server's models; null: no answer, or not a model server. */
async function askModels(url: string, signal: AbortSignal): Promise<readonly string[] | null> {
  const asked = { provider: "local", path: "/models", headers: {}, env: {}, timeoutMs, signal, limit: answerLimit };
  const answer = await probeModel(url, asked).catch(() => null);
  signal.throwIfAborted();
  const list = answer?.status === 200 ? readModelList(answer.body) : null;
  return list?.models.map(({ name }) => name) ?? null;
}
