/** Subcommands of `pai key`. No output contains a whole key. */
import { PaiError } from "../../core/error.ts";
import { findAnyProvider, type Provider, providerOfKey, providers, providerTable } from "../../core/providers.ts";
import { alignRows } from "../../core/text.ts";
import { probeModel, readRefusal } from "../../models/probe.ts";
import { renderWait } from "../../models/wire/http-errors.ts";
import { configuredAddress, findBaseUrl } from "../../store/base-url.ts";
import { endRests, openKeyState } from "../../store/key-state.ts";
import {
  doubtKey,
  type FoundKey,
  findKeys,
  inOrder,
  judgeId,
  type KeyRing,
  loadCredentials,
  maskKey,
  maxIdLength,
  noKeys,
  putKey,
  removeKey,
  setDefaultKey,
} from "../../store/keys.ts";
import { readAnswer } from "../../ui/prompt/read-answer.ts";
import type { Asking } from "../compose/base.ts";
import { currentKeys } from "../compose/key-command.ts";
import { permitAddress } from "../compose/model-facts.ts";
import { askOwner, refuseSetting, requireKey } from "./key-entry.ts";
import type { ConfigAnswer, ConfigCall, ConfigWord } from "./word.ts";

const none = "No API key is currently configured";
const hint = "store one with: pai key set";

interface ShownKey {
  readonly provider: string;
  readonly id: string;
  readonly masked: string;
  /** Whether it looks like the keys of its provider; "unknown" only says that the server must tell. */
  readonly shape: "known" | "unknown";
  /** When it was stored, ISO; null: not known, or not stored. */
  readonly added: string | null;
  readonly default: boolean;
  readonly origin: string;
  /** Seconds until it may be used again; null: it is ready. */
  readonly rests: number | null;
}

export const keyWords: Readonly<Record<string, ConfigWord>> = {
  set: {
    usage: "[NAME] [KEY]",
    about: "store a key (from stdin or a hidden prompt) and make it the default",
    words: [0, 100],
    run: (call) => store(call, true),
  },
  add: {
    usage: "NAME [KEY]",
    about: "store another key, for turns with the default one",
    words: [1, 100],
    run: (call) => store(call, false),
  },
  list: { usage: "", about: "all keys, masked, with shape, age and source", words: [0, 0], run: list },
  default: { usage: "NAME", about: "make calls begin with this key", words: [1, 1], run: setDefault },
  remove: { usage: "[NAME]", about: "remove a key, without NAME the default one", words: [0, 1], run: remove },
  check: {
    usage: "",
    about: "check the shape of the keys; --online asks the provider, and uses a key that rests again",
    words: [0, 0],
    run: check,
  },
};

/**
 * One word is the name of a key, of a provider, or the key itself; two are a name and a key. `key` null: it is still to be
 * read. Throws usage for a setting.
 */
function readGiven({ words, provider, load }: ConfigCall) {
  const [first = "primary", ...rest] = words;
  refuseSetting(words.join(" "));
  if (rest.length === 0 && (providerOfKey(first) !== null || first.includes("=") || first.length > maxIdLength)) {
    requireKey(first);
    return { name: "primary", provider, key: first };
  }
  const key = rest.length === 0 ? null : rest.join(" ");
  if (key !== null) requireKey(key);
  const named = findAnyProvider(first, load().settings.providers);
  if (named !== null) return { name: "primary", provider: provider ?? named, key };
  const fault = providerOfKey(first) === null ? judgeId(first) : "comes first, then the key";
  if (fault !== null)
    throw new PaiError("usage", `the name of a key ${fault}`, { hint: "a key is read: pai key set < FILE" });
  return { name: first, provider, key };
}

async function store(call: ConfigCall, isDefault: boolean): Promise<ConfigAnswer> {
  const { name, provider: named, key: typed } = readGiven(call);
  const question = named === null ? "Key (not shown): " : `Key for ${named.id} (not shown): `;
  const key = await readKey(call, typed, question);
  requireKey(key);
  const { readLine } = call;
  const known = named ?? providerOfKey(key);
  const provider = known ?? (readLine === null ? providerOf(call) : providerTable[await askOwner(call.askHidden)]);
  const place = { provider: provider.id, places: call.places };
  await confirmDoubtful(call, provider, name, key);
  const { isNew } = putKey(place, name, key, call.context.now());
  if (isDefault) setDefaultKey(place, name);
  const [active] = findKeys(provider, { env: call.context.env, places: call.places });
  if (active?.id === "env") call.warn(`${active.origin} is set and is used instead of stored keys`);
  call.note(renderNext(call, provider));
  return {
    lines: [`${isNew ? "Stored" : "Replaced"} the ${provider.id} key ${name}: ${maskKey(key)}`],
    data: { provider: provider.id, id: name, masked: maskKey(key), is_new: isNew },
  };
}

/** Why the key does not look like one for the address in use; null: it does. */
function doubtOf({ context: { env }, load }: ConfigCall, provider: Provider, key: string): string | null {
  return doubtKey(provider.id, key, findBaseUrl(provider, env, configuredAddress(provider, load())));
}

/** Asks about a key of an unknown shape, or one that replaces a better one. Throws declined, headless key_invalid. */
async function confirmDoubtful(call: ConfigCall, provider: Provider, name: string, key: string): Promise<void> {
  const { warn, readLine, askHidden, places } = call;
  const shapeOf = (text: string) => doubtKey(provider.id, text, { origin: "default" });
  const ring = places.configDir === null ? undefined : loadCredentials(places.configDir).get(provider.id);
  const before = ring?.keys.get(name);
  const isWorse = before !== undefined && shapeOf(before) === null && shapeOf(key) !== null;
  const doubt = isWorse ? shapeOf(key) : doubtOf(call, provider, key);
  if (doubt === null) return;
  if (readLine === null && isWorse)
    throw new PaiError("key_invalid", `the key ${doubt}; the ${provider.id} key ${name} stays`, {
      hint: `beside it: pai key add NAME; in its place: first pai key remove ${name} --provider ${provider.id}`,
    });
  if (readLine === null) return warn(`the key ${doubt}; stored all the same`);
  const what = isWorse ? `replace the key ${name} with it?` : "store it all the same?";
  const said = await askHidden(`the key ${doubt}; ${what} y or n: `);
  if (readAnswer(said, { feedback: false }) !== "yes") throw new PaiError("declined", "the key was not stored");
}

function renderNext({ load }: ConfigCall, { id, usualModel, like }: Provider): string {
  const { settings, origins } = load();
  const isUsed = settings.model.startsWith(`${id}:`) || (origins["model"] === "default" && usualModel !== null);
  const check = `check it: pai key check --online${id === providers[0]?.id ? "" : ` --provider ${id}`}`;
  const example = usualModel ?? (like === undefined ? "MAKER/MODEL" : "MODEL");
  return isUsed ? check : `${check}; use it: pai config set model ${id}:${example}`;
}

async function readKey({ context, askHidden, warn }: ConfigCall, typed: string | null, question: string) {
  if (typed !== null) {
    warn("a key on the command line is seen by ps and kept in the shell history; better: pai key set < FILE");
    return typed;
  }
  if (!context.tty.stdin) return (await context.readStdin(context.signal)).trim();
  if (context.flags.noInput === true) throw new PaiError("usage", "no key was given", { hint: "pai key set < FILE" });
  return ((await askHidden(question)) ?? "").trim();
}

function list(call: ConfigCall): ConfigAnswer {
  const { context, places, provider, load } = call;
  const stored = places.configDir === null ? new Map<string, KeyRing>() : loadCredentials(places.configDir);
  const { resting } = openKeyState(places.stateDir).load();
  const now = context.now().getTime();
  const all: readonly Provider[] = provider === null ? [...providers, ...load().settings.providers] : [provider];
  const keys = all.flatMap((row): ShownKey[] => {
    const ring = stored.get(row.id);
    const [active] = findKeys(row, { env: context.env, places });
    const found: readonly FoundKey[] = [
      ...(active?.id === "env" ? [active] : []),
      ...inOrder(ring ?? noKeys).map(([id, key]) => ({ id, key, origin: "credentials.json" })),
    ];
    return found.map(({ id, key, origin }) => {
      const seconds = Math.ceil(((resting[`${row.id}/${id}`] ?? 0) - now) / 1000);
      return {
        provider: row.id,
        id,
        masked: maskKey(key),
        shape: doubtOf(call, row, key) === null ? "known" : "unknown",
        added: (id === "env" ? null : ring?.added.get(id)) ?? null,
        default: id !== "env" && id === ring?.default,
        origin,
        rests: seconds > 0 ? seconds : null,
      };
    });
  });
  if (keys.length === 0) return { lines: [none, hint], data: { keys } };
  return { lines: alignRows(keys.map((key) => renderKey(key, now))), data: { keys } };
}

function renderKey(key: ShownKey, now: number): readonly string[] {
  const days = key.added === null ? null : Math.floor((now - Date.parse(key.added)) / 86_400_000);
  const age = days === null ? "" : days === 0 ? "today" : `${days} ${days === 1 ? "day" : "days"} old`;
  const notes = [
    key.id === "env" ? "used alone" : key.default ? "default" : "",
    key.shape === "unknown" ? "unknown shape" : "",
    key.rests === null ? "" : `rests for ${renderWait(key.rests)}`,
  ];
  return [key.provider, key.id, key.masked, key.origin, age, notes.filter(Boolean).join(", ")];
}

async function check(call: ConfigCall): Promise<ConfigAnswer> {
  const provider = providerOf(call);
  const isOnline = call.context.flags.online === true;
  const asking = { ...call, ...call.load() };
  const command = asking.settings.providers.find(({ id }) => id === provider.id)?.keyCommand ?? null;
  if (command !== null && !isOnline)
    return {
      lines: [`The ${provider.id} key comes from ${command.words[0]}: --online runs it and asks the server`],
      data: { provider: provider.id, online: false, keys: [] },
    };
  const keys = await currentKeys(provider, asking);
  if (keys.length === 0 && !(isOnline && !provider.needsKey)) throw new PaiError("no_key", none, { hint });
  if (isOnline) return askForAll(call, provider, keys);
  const judged = keys.map(({ id, key }) => ({ id, masked: maskKey(key), doubt: doubtOf(call, provider, key) }));
  for (const { id, doubt } of judged) if (doubt !== null) call.warn(`the key ${id} ${doubt}`);
  return {
    lines: judged.map(({ id, doubt }) =>
      doubt === null
        ? `The ${provider.id} key ${id} looks valid`
        : `Whether the ${provider.id} key ${id} is valid, only the server can tell: add --online`,
    ),
    data: {
      provider: provider.id,
      online: false,
      keys: judged.map(({ id, masked, doubt }) => ({ id, masked, valid: doubt === null ? true : null })),
    },
  };
}

/** Tries every key; returns one line for each. If one is refused, warns with the other lines and throws the refusal. */
async function askForAll(call: ConfigCall, provider: Provider, keys: readonly FoundKey[]): Promise<ConfigAnswer> {
  const verdicts = await validateOnline(provider, keys, { ...call, ...call.load() });
  const lines = verdicts.map(({ id, address, error, unsure }) => {
    if (unsure) return `${address} has no ${provider.probe} (404): it answers, but the key cannot be checked`;
    const name = id === null ? `${provider.id} without a key` : `The ${provider.id} key ${id}`;
    return error === null ? `${name} was accepted by ${address}` : error.message;
  });
  const failed = verdicts.find(({ error }) => error !== null)?.error ?? null;
  if (failed !== null) {
    for (const line of lines.filter((each) => each !== failed.message)) call.warn(line);
    throw failed;
  }
  endRests(call.places.stateDir, provider.id);
  const masked = new Map(keys.map(({ id, key }) => [id, maskKey(key)]));
  const data = verdicts.map(({ id }) => ({ id, masked: masked.get(id ?? "") ?? null, valid: true }));
  return { lines, data: { provider: provider.id, online: true, keys: data } };
}

function remove(call: ConfigCall): ConfigAnswer {
  const { words, places } = call;
  const { id: provider } = ownerOf(call);
  const { removed, default: next } = removeKey({ provider, places }, words[0] ?? null);
  const lines = [`Removed the ${provider} key ${removed}`, ...(next === null ? [] : [`The default key is ${next}`])];
  return { lines, data: { provider, removed, default: next } };
}

function setDefault(call: ConfigCall): ConfigAnswer {
  const [id = ""] = call.words;
  const { id: provider } = ownerOf(call);
  setDefaultKey({ provider, places: call.places }, id);
  return { lines: [`Calls to ${provider} begin with the key ${id}`], data: { provider, default: id } };
}

/** The provider of `--provider`, or who has a stored key of that name. Throws usage where several have it. */
function ownerOf(call: ConfigCall): Provider {
  const { words, provider, places, load } = call;
  const [name] = words;
  if (provider !== null || name === undefined || places.configDir === null) return providerOf(call);
  const stored = loadCredentials(places.configDir);
  const [owner, ...others] = [...providers, ...load().settings.providers].filter(({ id }) =>
    stored.get(id)?.keys.has(name),
  );
  if (owner === undefined || others.length === 0) return owner ?? providerOf(call);
  const all = [owner, ...others].map(({ id }) => id).join(", ");
  throw new PaiError("usage", `several providers have a key ${name}: ${all}`, {
    hint: `say whose: --provider ${owner.id}`,
  });
}

const providerOf = ({ provider }: ConfigCall): Provider => provider ?? providerTable.gemini;

/**
 * Checks the keys in turn. `id` null: the address needs no key; `error` null: the key was not refused; `unsure`: no request
 * there tells valid keys from others. Throws network, tls, untrusted and other errors that are not due to a key.
 */
export async function validateOnline(provider: Provider, keys: readonly FoundKey[], asking: Asking) {
  const { context } = asking;
  const base = await permitAddress(provider, keys, asking);
  const { id, probe: path, headers } = provider;
  const options = { provider: id, path, env: context.env, timeoutMs: 20_000, signal: context.signal };
  const verdicts: { id: string | null; address: string; error: PaiError | null; unsure: boolean }[] = [];
  for (const key of keys.length === 0 ? [null] : keys) {
    const answer = await probeModel(base.url, { ...options, headers: headers(key?.key ?? null) });
    // A gateway without a list of models says nothing about the key.
    const unsure = answer.status === 404;
    const error = unsure ? null : readRefusal(id, key, answer, context.now().getTime());
    verdicts.push({ id: key?.id ?? null, address: answer.endpoint.address, error, unsure });
  }
  return verdicts;
}
