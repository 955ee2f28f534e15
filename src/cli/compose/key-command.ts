/** Runs the program that prints the key of an own provider, and uses what it printed for the stated time. */
import { orNull, PaiError, toPaiError } from "../../core/error.ts";
import type { Provider } from "../../core/providers.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import type { Key } from "../../models/keys-in-turn.ts";
import { readStart } from "../../models/wire/endpoint.ts";
import { type FoundKey, findFault, findKeys } from "../../store/keys.ts";
import type { KeyCommand } from "../../store/own-providers.ts";
import type { Environment } from "../../store/places.ts";
import { pathOutside, realPathOf } from "../../system/lookups.ts";
import { type Asking, folderOf } from "./base.ts";

interface KeyCommandOptions {
  readonly env: Environment;
  readonly home: string | null;
  /** The project: none of its programs is the user's. */
  readonly root: string;
  readonly now: () => Date;
  /** Gets every key that is printed, before it is used. */
  readonly hold: (key: string) => void;
}

/** The key that counts now. `refused`: a key that the server refused, which is not used again. */
type RenewKey = (signal: AbortSignal, refused: Key | null) => Promise<Key>;

const maxOutput = 65_536;
const maxSaid = 200;

/** A key by a command, which runs anew after its time and a refusal. Throws config_invalid where it prints none. */
export function openKeyCommand(id: string, command: KeyCommand, options: KeyCommandOptions): RenewKey {
  const setting = `providers.${id}.key.command`;
  let held: { readonly key: Key; readonly until: number } | null = null;
  let running: Promise<Key> | null = null;
  const run = async (signal: AbortSignal): Promise<Key> => {
    const began = options.now().getTime();
    const key: Key = { id: "command", key: await readKey(setting, command, options, signal) };
    options.hold(key.key);
    held = { key, until: began + command.cacheMs };
    return key;
  };
  return (signal, refused) => {
    const isFresh = held !== null && held.key.key !== refused?.key && options.now().getTime() < held.until;
    if (held !== null && isFresh) return Promise.resolve(held.key);
    running ??= run(signal).finally(() => {
      running = null;
    });
    return running;
  };
}

async function readKey(
  setting: string,
  { words, timeoutMs }: KeyCommand,
  options: KeyCommandOptions,
  signal: AbortSignal,
): Promise<string> {
  const invalid = (what: string, hint = `run it yourself to see: ${words.join(" ")}`) =>
    new PaiError("config_invalid", `${setting} (${words[0]}) ${what}`, { hint });
  const child = start(words, options, invalid);
  const limit = AbortSignal.timeout(timeoutMs);
  const stopped = AbortSignal.any([limit, signal]);
  try {
    const [out, err, exit] = await Promise.race([
      Promise.all([
        readStart(new Response(child.stdout), maxOutput),
        readStart(new Response(child.stderr), maxOutput),
        child.exited,
      ]),
      new Promise<never>((_, reject) => {
        stopped.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      }),
    ]);
    if (exit !== 0) throw invalid(`ended with ${exit}${lastLine(err)}`);
    return readLine(out, invalid);
  } catch (thrown) {
    if (thrown instanceof PaiError) throw thrown;
    signal.throwIfAborted();
    if (!limit.aborted) throw toPaiError(thrown);
    const way = `if it needs longer: ${setting.replace(/command$/, "timeout")}`;
    throw invalid(`was not done after ${timeoutMs / 1000} s`, way);
  } finally {
    // What the command left behind ends, too.
    orNull(() => process.kill(-child.pid, "SIGKILL"));
  }
}

function start(words: readonly string[], { env, home, root }: KeyCommandOptions, invalid: (what: string) => PaiError) {
  const [program = "", ...others] = words;
  // Links may lead to the project.
  const path = pathOutside(pathOutside(env["PATH"], root), realPathOf(root) ?? root);
  const found = Bun.which(program, { PATH: path });
  if (found === null) throw invalid("cannot be started: there is no such program in PATH");
  try {
    return Bun.spawn([found, ...others], {
      cwd: home ?? "/",
      env: { ...env, PATH: path },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
  } catch (thrown) {
    throw invalid(`cannot be started: ${toPaiError(thrown).message}`);
  }
}

function readLine(out: string, invalid: (what: string) => PaiError): string {
  const lines = out.trimEnd().split("\n");
  if (lines.length > 1) throw invalid(`printed ${lines.length} lines, and a key is one`);
  const key = (lines[0] ?? "").trim();
  if (key === "") throw invalid("printed nothing");
  const fault = findFault(key);
  if (fault !== null) throw invalid(`printed what is no key: it ${fault}`);
  return key;
}

/** What the command said last, for an error; it may have said a secret. */
function lastLine(err: string): string {
  const line = maskSecrets(err.trim().split("\n").at(-1) ?? "").replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return line === "" ? "" : `: ${line.length > maxSaid ? `${line.slice(0, maxSaid).toWellFormed()}…` : line}`;
}

export function findKeyCommand(
  { id }: Provider,
  { context, places, settings }: Asking,
  hold: KeyCommandOptions["hold"] = () => {},
): RenewKey | null {
  const command = settings.providers.find((own) => own.id === id)?.keyCommand ?? null;
  if (command === null) return null;
  const { env, now } = context;
  return openKeyCommand(id, command, { env, home: places.home, root: folderOf(context), now, hold });
}

/** The default key first. Throws what finding a key or running the command throws. */
export async function currentKeys(provider: Provider, asking: Asking): Promise<readonly FoundKey[]> {
  const { context, places } = asking;
  const renew = findKeyCommand(provider, asking);
  if (renew === null) return findKeys(provider, { env: context.env, places });
  return [{ ...(await renew(context.signal, null)), origin: `providers.${provider.id}.key.command` }];
}
