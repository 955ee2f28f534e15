/** Subcommands of `pai config` for keys. No output contains a whole key. */
import { PaiError } from "../../core/error.ts";
import { type Provider, providerOfKey, providers, providerTable } from "../../core/providers.ts";
import { renderWait } from "../../models/wire/http-errors.ts";
import { configuredAddress, findBaseUrl } from "../../store/base-url.ts";
import { loadCredentials } from "../../store/credentials.ts";
import { openKeyState, resetKeyState } from "../../store/key-state.ts";
import {
  doubtKey,
  type FoundKey,
  findKeys,
  inOrder,
  judgeId,
  type KeyPlace,
  maskKey,
  putKey,
  removeKey,
  requireId,
  setDefaultKey,
} from "../../store/keys.ts";
import { loadSettings } from "../../store/settings.ts";
import { readAnswer } from "../../ui/prompt/read-answer.ts";
import { currentKeys } from "../compose/current-keys.ts";
import { askOwner, requireKey } from "./key-entry.ts";
import { validateOnline } from "./validate-online.ts";
import type { ConfigAnswer, ConfigCall, ConfigWord } from "./word.ts";

const none = "No API key is currently configured";
const hint = "store one with: pai config set";

/** What is shown of a key. */
interface ShownKey {
  readonly provider: string;
  readonly id: string;
  readonly masked: string;
  readonly default: boolean;
  readonly origin: string;
  /** Seconds until it may be used again; null: it is ready. */
  readonly rests: number | null;
}

export const keyWords: Readonly<Record<string, ConfigWord>> = {
  set: {
    usage: "[KEY]",
    about: "store the key (read from stdin or a hidden prompt)",
    minWords: 0,
    maxWords: 100,
    run: set,
  },
  add: { usage: "ID [KEY]", about: "store another key under a name", minWords: 1, maxWords: 100, run: add },
  list: { usage: "", about: "all keys, masked", minWords: 0, maxWords: 0, run: list },
  show: { usage: "[ID]", about: "one key, masked", minWords: 0, maxWords: 1, run: show },
  validate: {
    usage: "",
    about: "check the shape of the keys; --online asks the provider",
    minWords: 0,
    maxWords: 0,
    run: validate,
  },
  remove: { usage: "[ID]", about: "remove a key, without ID the default one", minWords: 0, maxWords: 1, run: remove },
  "set-default": { usage: "ID", about: "make calls begin with this key", minWords: 1, maxWords: 1, run: setDefault },
  reset: { usage: "", about: "clear cool-downs and whose turn it is", minWords: 0, maxWords: 1, run: reset },
};

function set(call: ConfigCall): Promise<ConfigAnswer> {
  return store(call, { id: "primary", isDefault: true }, call.words);
}

function add(call: ConfigCall): Promise<ConfigAnswer> {
  const [id = "", ...given] = call.words;
  const fault = judgeId(id);
  if (fault !== null) throw new PaiError("usage", `the name of a key ${fault}`);
  if (providerOfKey(id) !== null) {
    throw new PaiError("usage", "that looks like a key; a name for it comes first", { hint: "pai config add NAME" });
  }
  return store(call, { id, isDefault: false }, given);
}

/** Where a key is stored: its provider and id, and whether calls begin with it. */
interface Storing {
  readonly id: string;
  readonly isDefault: boolean;
}

/** `given`: the words of the command line; a key is one, and whatever has more is refused with the right command. */
async function store(call: ConfigCall, { id, isDefault }: Storing, given: readonly string[]): Promise<ConfigAnswer> {
  const named = call.provider;
  const question = named === null ? "Key (not shown): " : `Key for ${named.id} (not shown): `;
  const key = await readKey(call, given.length === 0 ? undefined : given.join(" "), question);
  requireKey(key);
  const { readLine } = call;
  const known = named ?? providerOfKey(key);
  const provider = known ?? (readLine === null ? providerOf(call) : providerTable[await askOwner(readLine)]);
  const place = { ...placeOf(call), provider: provider.id };
  const doubt = doubtOf(call, provider, key);
  if (doubt !== null) await confirmDoubtful(call, doubt);
  const { isNew } = putKey(place, id, key);
  if (isDefault) setDefaultKey(place, id);
  const [active] = findKeys(provider, { env: call.context.env, places: call.places });
  if (active?.id === "env") call.warn(`${active.origin} is set and is used instead of stored keys`);
  call.note(renderNext(call, provider));
  return {
    lines: [`${isNew ? "Stored" : "Replaced"} the ${provider.id} key ${id}: ${maskKey(key)}`],
    data: { provider: provider.id, id, masked: maskKey(key), is_new: isNew },
  };
}

/** Why the key does not look like one for the address in use; null: it does. */
function doubtOf({ context: { env }, places }: ConfigCall, provider: Provider, key: string): string | null {
  const loaded = loadSettings({ flags: {}, env, places, root: null });
  return doubtKey(provider.id, key, findBaseUrl(provider, env, configuredAddress(provider, loaded)));
}

/** Warns of a key that does not look like one; asks whoever can be asked. Throws declined. */
async function confirmDoubtful({ warn, readLine }: ConfigCall, doubt: string): Promise<void> {
  if (readLine === null) return warn(`the key ${doubt}; stored all the same`);
  const said = await readLine(`the key ${doubt}; store it all the same? y or n: `);
  if (readAnswer(said, { feedback: false }) !== "yes") throw new PaiError("declined", "the key was not stored");
}

/** What to do after storing a key. */
function renderNext({ context, places }: ConfigCall, { id, usualModel, like }: Provider): string {
  const { settings, origins } = loadSettings({ flags: {}, env: context.env, places, root: null });
  const isUsed = settings.model.startsWith(`${id}:`) || (origins["model"] === "default" && usualModel !== null);
  const check = `check it: pai config validate --online${id === providers[0]?.id ? "" : ` --provider ${id}`}`;
  const example = usualModel ?? (like === undefined ? "MAKER/MODEL" : "MODEL");
  return isUsed ? check : `${check}; use it: pai config put model ${id}:${example}`;
}

async function readKey({ context, askHidden, warn }: ConfigCall, given: string | undefined, question: string) {
  if (given !== undefined && given !== "-") {
    warn("a key on the command line is seen by ps and kept in the shell history; better: pai config set < FILE");
    return given.trim();
  }
  if (given === "-" || !context.tty.stdin) return (await context.readStdin(context.signal)).trim();
  if (context.flags.noInput === true)
    throw new PaiError("usage", "no key was given", { hint: "pai config set < FILE" });
  return ((await askHidden(question)) ?? "").trim();
}

function list({ context, places, provider, own, warn }: ConfigCall): ConfigAnswer {
  const stored = places.configDir === null ? new Map() : loadCredentials(places.configDir, warn);
  const all: readonly Provider[] = provider === null ? [...providers, ...own()] : [provider];
  const keys: ShownKey[] = all.flatMap((row) => {
    const name = row.id;
    const ring = stored.get(name) ?? { default: null, keys: new Map() };
    const [active] = findKeys(row, { env: context.env, places });
    const fromEnv = active?.id === "env" ? [shown(name, active, false)] : [];
    const kept = inOrder(ring).map(([id, key]) =>
      shown(name, { id, key, origin: "credentials.json" }, id === ring.default),
    );
    return [...fromEnv, ...kept];
  });
  if (keys.length === 0) return { lines: [none, hint], data: { keys } };
  const { resting } = openKeyState(places.stateDir).load();
  const now = context.now().getTime();
  const rested = keys.map((key) => {
    const seconds = Math.ceil(((resting[`${key.provider}/${key.id}`] ?? 0) - now) / 1000);
    return { ...key, rests: seconds > 0 ? seconds : null };
  });
  const width = Math.max(...keys.map(({ id }) => id.length));
  const widest = Math.max(...all.map(({ id }) => id.length));
  return {
    lines: rested.map((key) => `${key.provider.padEnd(widest)}  ${renderKey(key, width)}`),
    data: { keys: rested },
  };
}

function show(call: ConfigCall): ConfigAnswer {
  const { context, places, words, warn } = call;
  const provider = providerOf(call);
  const { id: name } = provider;
  const [wanted] = words;
  const [active] = findKeys(provider, { env: context.env, places, warn });
  if (wanted === undefined && active === undefined) return { lines: [none, hint], data: { key: null } };
  if (active !== undefined && (wanted === undefined || wanted === active.id)) {
    const key = shown(name, active, active.id !== "env");
    return { lines: [renderKey(key, 0)], data: { key } };
  }
  const ring = (places.configDir === null ? null : loadCredentials(places.configDir, warn).get(name)) ?? null;
  const id = requireId(ring ?? { default: null, keys: new Map() }, name, wanted ?? null);
  const key = shown(name, { id, key: ring?.keys.get(id) ?? "", origin: "credentials.json" }, id === ring?.default);
  return { lines: [renderKey(key, 0)], data: { key } };
}

const shown = (provider: string, { id, key, origin }: FoundKey, isDefault: boolean): ShownKey => ({
  provider,
  id,
  masked: maskKey(key),
  default: isDefault,
  origin,
  rests: null,
});

function renderKey(key: ShownKey, width: number): string {
  const note = key.id === "env" ? `  ${key.origin}, used alone` : key.default ? "  default" : "";
  const rest = key.rests === null ? "" : `  rests for ${renderWait(key.rests)}`;
  return `${key.id.padEnd(width)}  ${key.masked}${note}${rest}`;
}

async function validate(call: ConfigCall): Promise<ConfigAnswer> {
  const provider = providerOf(call);
  const isOnline = call.context.flags.online === true;
  const command = call.own().find(({ id }) => id === provider.id)?.keyCommand ?? null;
  if (command !== null && !isOnline)
    return {
      lines: [`The ${provider.id} key comes from ${command.words[0]}: --online runs it and asks the server`],
      data: { provider: provider.id, online: false, keys: [] },
    };
  const keys = await currentKeys(provider, { ...call, settings: { providers: call.own() } }, call.warn);
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
  const verdicts = await validateOnline(provider, keys, call);
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
  const masked = new Map(keys.map(({ id, key }) => [id, maskKey(key)]));
  const data = verdicts.map(({ id }) => ({ id, masked: masked.get(id ?? "") ?? null, valid: true }));
  return { lines, data: { provider: provider.id, online: true, keys: data } };
}

function remove(call: ConfigCall): ConfigAnswer {
  const { id: provider } = providerOf(call);
  const { removed, default: next } = removeKey(placeOf(call), call.words[0] ?? null);
  const lines = [`Removed the ${provider} key ${removed}`, ...(next === null ? [] : [`The default key is ${next}`])];
  return { lines, data: { provider, removed, default: next } };
}

function setDefault(call: ConfigCall): ConfigAnswer {
  const [id = ""] = call.words;
  const { id: provider } = providerOf(call);
  setDefaultKey(placeOf(call), id);
  return { lines: [`Calls to ${provider} begin with the key ${id}`], data: { provider, default: id } };
}

/** Also accepts `blacklist`, the word of an older program. */
function reset({ places, words: [what] }: ConfigCall): ConfigAnswer {
  if (what !== undefined && what !== "blacklist") throw new PaiError("usage", "usage: pai config reset");
  resetKeyState(places.stateDir);
  return { lines: ["All keys are ready: cool-downs are cleared"], data: {} };
}

const placeOf = (call: ConfigCall): KeyPlace => ({
  provider: providerOf(call).id,
  places: call.places,
  warn: call.warn,
});
const providerOf = ({ provider }: ConfigCall): Provider => provider ?? providerTable.gemini;
