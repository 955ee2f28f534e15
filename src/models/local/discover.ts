/** Looks for model servers on this machine and finds out who runs them; never uses one. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readStart } from "../wire/error-body.ts";
import { fields, listIn, parseJson, textIn } from "../wire/fields.ts";

/** Who listens on a port, as far as the kernel tells. */
export interface Owner {
  readonly uid: number;
  /** Name and number of the process; null: it belongs to another user. */
  readonly process: { readonly name: string; readonly pid: number } | null;
}

export interface FoundServer {
  /** Base URL of its Chat Completions, with `/v1`. */
  readonly url: string;
  /** The kind of server that usually listens on the port. */
  readonly usual: string;
  /** null: unknown. */
  readonly owner: Owner | null;
  readonly models: readonly string[];
}

export interface DiscoverOptions {
  readonly signal: AbortSignal;
  readonly ports?: readonly (readonly [port: number, usual: string])[];
  /** Folder of the kernel's tables. */
  readonly proc?: string;
}

const usualPorts = [
  [11434, "Ollama"],
  [8080, "llama.cpp"],
  [8000, "vLLM"],
  [1234, "LM Studio"],
] as const;
const timeoutMs = 200;
const answerLimit = 1_000_000;

/**
 * Asks all usual ports of loopback for their models at the same time; a port that does not answer within 200 ms is left
 * out.
 */
export async function findServers({
  signal,
  ports = usualPorts,
  proc = "/proc",
}: DiscoverOptions): Promise<readonly FoundServer[]> {
  const found = await Promise.all(
    ports.map(async ([port, usual]) => {
      const url = `http://127.0.0.1:${port}/v1`;
      const models = await askModels(url, signal);
      return models === null ? null : { url, usual, owner: findOwner(port, proc), models };
    }),
  );
  return found.filter((server) => server !== null);
}

/** One line about a server: its address and kind, who runs it, its models. */
export function renderServer({ url, usual, owner, models }: FoundServer): string {
  const who = owner === null ? "somebody" : `user ${owner.uid}`;
  const what = owner?.process == null ? "" : ` (${owner.process.name}, process ${owner.process.pid})`;
  return `${url} (usually ${usual}), run by ${who}${what}: ${models.slice(0, 5).join(", ") || "no models"}`;
}

/** The names of a server's models; null: no answer, or not a model server. */
async function askModels(url: string, signal: AbortSignal): Promise<readonly string[] | null> {
  try {
    const response = await fetch(`${url}/models`, {
      redirect: "manual",
      proxy: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const { data } = fields(parseJson(await readStart(response, answerLimit)));
    if (!response.ok || !Array.isArray(data)) return null;
    return listIn(data)
      .map((model) => textIn(fields(model)["id"]).slice(0, 100))
      .filter(Boolean);
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Listening addresses that take connections to 127.0.0.1, as the kernel writes them; exact ones before wildcards. */
const addresses = ["0100007F", "0000000000000000FFFF00000100007F", "00000000", "0".repeat(32)];

function findOwner(port: number, proc: string): Owner | null {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  const listening = "0A";
  const rows = ["tcp", "tcp6"]
    .flatMap((table) => readRows(`${proc}/net/${table}`))
    .filter(([, , , state]) => state === listening);
  const row = addresses
    .map((address) => rows.find(([, local]) => local === `${address}:${wanted}`))
    .find((each) => each !== undefined);
  const [uid, inode] = [Number(row?.[7]), row?.[9]];
  return inode === undefined || Number.isNaN(uid) ? null : { uid, process: findProcess(`socket:[${inode}]`, proc) };
}

function readRows(file: string): readonly (readonly string[])[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/));
  } catch {
    return [];
  }
}

/** The process that holds the socket, among those that this user may inspect; null: none of them. */
function findProcess(socket: string, proc: string): Owner["process"] {
  const pid = listFolder(proc).find(
    (entry) =>
      /^\d+$/.test(entry) &&
      listFolder(`${proc}/${entry}/fd`).some((fd) => readLink(`${proc}/${entry}/fd/${fd}`) === socket),
  );
  if (pid === undefined) return null;
  const name = readRows(`${proc}/${pid}/comm`)[0]?.join(" ") ?? "";
  return { name, pid: Number(pid) };
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readLink(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}
