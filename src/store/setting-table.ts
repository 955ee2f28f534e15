/** Every setting once: its name, its variable and flag, what it may be, and how far a project may narrow it. */
import { isFields, type Json } from "../core/model.ts";
import type { Rate } from "../core/price.ts";
import { byProvider } from "../core/providers.ts";
import { type SandboxChoice, sandboxChoices, stricterChoice } from "../core/sandbox.ts";
import { type McpServer, readServers } from "./mcp-servers.ts";

export const modes = ["single-shot", "eight-step", "tool-loop", "auto"] as const;
export type Mode = (typeof modes)[number];

/** One setting of type T; null stands for "not set". */
export interface Setting<T> {
  readonly name: string;
  /** What it must be, in words: "a number". */
  readonly wants: string;
  readonly fallback: T;
  /** Environment variable. */
  readonly env?: string;
  /** Key of the flag table: "maxCalls" for --max-calls. */
  readonly flag?: string;
  /** Text of a variable, a flag or `config put` as JSON. */
  readonly fromText: (text: string) => Json;
  /** The value, clamped where the setting clamps; null: of the wrong type. */
  readonly check: (json: Json) => T | null;
  /** An unusable variable or flag means the fallback, as in the original, and is not an error. */
  readonly lenient?: true;
  /** Whether a flag may say it, where that is stricter than `check`. */
  readonly fitsFlag?: (json: Json) => boolean;
  /** In config.json and, when `narrow` is there too, in pai.json; the others are variables and flags only. */
  readonly inFile: boolean;
  /** What becomes of `current` when an untrusted project wants `wanted`; absent: a project may not say. */
  readonly narrow?: (current: T, wanted: T) => T;
  /** No project may say it, trusted or not. */
  readonly userOnly?: true;
  /** The value as it may be shown; absent: as it is. */
  readonly shown?: (value: Json) => Json;
}

interface Sources {
  readonly env?: string;
  readonly flag?: string;
  readonly lenient?: true;
}

const asNumber = (text: string): Json =>
  /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : text;
const asList = (text: string): Json => text.split("\n").filter((line) => line.trim() !== "");
const asJson = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};
const asSwitch = (text: string): Json => {
  if (/^(1|true|yes|on)$/i.test(text.trim())) return true;
  return /^(0|false|no|off)$/i.test(text.trim()) ? false : text;
};

/** `90`, `90s`, `5m`, `2h` in seconds; null: no duration. */
function parseDuration(text: string): number | null {
  const parts = /^(\d+(?:\.\d+)?)(s|m|h)?$/i.exec(text.trim());
  if (parts === null) return null;
  const unit = { s: 1, m: 60, h: 3600 }[(parts[2] ?? "s").toLowerCase()] ?? 1;
  return Number(parts[1]) * unit;
}

const isNumber = (json: Json): json is number => typeof json === "number" && Number.isFinite(json);
const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

const lower = <T extends number | null>(current: T, wanted: T): T =>
  current === null || (wanted !== null && wanted < current) ? wanted : current;

function cap(name: string, wants: string, whole: boolean, sources: Sources): Setting<number | null> {
  const check = (json: Json): number | null =>
    isNumber(json) && json >= 0 && (!whole || Number.isInteger(json)) ? json : null;
  return { name, wants, fallback: null, fromText: asNumber, check, inFile: true, narrow: lower, ...sources };
}

function list(name: string, sources: Sources = {}): Setting<readonly string[]> {
  const check = (json: Json): readonly string[] | null =>
    Array.isArray(json) && json.every((item) => typeof item === "string" && item.trim() !== "") ? json : null;
  return { name, wants: "a list of texts", fallback: [], fromText: asList, check, inFile: true, ...sources };
}

function switched(name: string, sources: Sources): Setting<boolean> {
  const check = (json: Json): boolean | null => (typeof json === "boolean" ? json : null);
  return { name, wants: "true or false", fallback: false, fromText: asSwitch, check, inFile: true, ...sources };
}

function text(name: string, wants: string, fallback: string, sources: Sources): Setting<string> {
  const check = (json: Json): string | null => (typeof json === "string" && json.trim() !== "" ? json.trim() : null);
  return { name, wants, fallback, fromText: (value) => value, check, inFile: true, ...sources };
}

function duration(name: string, most: number): Omit<Setting<number>, "fallback" | "narrow"> {
  const check = (json: Json): number | null => {
    const seconds = typeof json === "string" ? parseDuration(json) : json;
    return isNumber(seconds) && seconds > 0 ? Math.min(seconds, most) : null;
  };
  return { name, wants: "a duration such as 90, 90s or 5m", fromText: (value) => value, check, inFile: true };
}

/** How much a way of working may do beyond what a plan shows first. */
const rightsOf: Readonly<Record<Mode, number>> = { "single-shot": 0, "eight-step": 1, auto: 1, "tool-loop": 2 };

const mode: Setting<Mode> = {
  name: "mode",
  wants: `one of ${modes.join(", ")}`,
  fallback: "single-shot",
  env: "PAI_MODE",
  flag: "mode",
  fromText: (value) => value.trim(),
  check: (json) => modes.find((known) => known === json) ?? null,
  inFile: true,
  // A project may ask for fewer rights only: without a plan every file may change, with more calls than were meant.
  narrow: (current, wanted) => (rightsOf[wanted] <= rightsOf[current] ? wanted : current),
};

const sandbox: Setting<SandboxChoice> = {
  name: "sandbox",
  wants: `one of ${sandboxChoices.join(", ")}`,
  fallback: "auto",
  flag: "sandbox",
  fromText: (value) => value.trim(),
  check: (json) => sandboxChoices.find((known) => known === json) ?? null,
  inFile: true,
  narrow: stricterChoice,
};

const temperature: Setting<number> = {
  name: "temperature",
  wants: "a number from 0 to 2",
  fallback: 0.3,
  env: "PAI_TEMPERATURE",
  flag: "temperature",
  fromText: asNumber,
  check: (json) => (isNumber(json) ? clamp(json, 0, 2) : null),
  fitsFlag: (json) => isNumber(json) && json >= 0 && json <= 2,
  lenient: true,
  inFile: true,
};

const actions: Setting<number> = {
  name: "actions",
  wants: "a whole number from 1 to 50",
  fallback: 15,
  env: "PAI_MAX_CMDS_PER_STEP",
  fromText: asNumber,
  check: (json) => (isNumber(json) && Number.isInteger(json) ? clamp(json, 1, 50) : null),
  lenient: true,
  inFile: false,
};

const guardLines: Setting<number> = {
  name: "guard.lines",
  wants: "a whole number of at least 1",
  fallback: 500,
  env: "PAI_MODIFY_THRESHOLD",
  fromText: asNumber,
  check: (json) => (isNumber(json) && Number.isInteger(json) && json >= 1 ? json : null),
  lenient: true,
  inFile: true,
  narrow: lower,
};

const guardRatio: Setting<number> = {
  name: "guard.ratio",
  wants: "a number above 0, at most 1",
  fallback: 0.5,
  env: "PAI_MODIFY_MAX_RATIO",
  fromText: asNumber,
  check: (json) => (isNumber(json) && json > 0 && json <= 1 ? json : null),
  lenient: true,
  inFile: true,
  narrow: lower,
};

const prices: Setting<Readonly<Record<string, Rate>>> = {
  name: "prices",
  wants: 'USD per million tokens by model, {"gemini:name": {"input": 0.1, "output": 0.4}}',
  fallback: {},
  fromText: asJson,
  check: checkPrices,
  inFile: true,
};

function checkPrices(json: Json): Readonly<Record<string, Rate>> | null {
  if (!isFields(json)) return null;
  const entries: [string, Rate][] = [];
  for (const [model, price] of Object.entries(json)) {
    if (!isFields(price)) return null;
    const { input, output, cached = input } = price;
    if (input === undefined || output === undefined || cached === undefined) return null;
    if (!isNumber(input) || !isNumber(output) || !isNumber(cached) || Math.min(input, output, cached) < 0) return null;
    entries.push([model, { input, cached, output }]);
  }
  return Object.fromEntries(entries);
}

/** Where each provider is reached, when not at its own address. */
export const baseUrlSettings = byProvider(({ id }): Setting<string | null> => {
  const check = (json: Json): string | null =>
    typeof json === "string" && URL.canParse(json.trim()) ? json.trim() : null;
  return { name: `baseUrl.${id}`, wants: "a URL", fallback: null, fromText: (url) => url, check, inFile: true };
});

const mcpServers: Setting<readonly McpServer[]> = {
  name: "mcpServers",
  wants: 'MCP servers by name, {"name": {"command": "program", "args": []}}',
  fallback: [],
  fromText: asJson,
  check: (json) => readServers(json, "config.json"),
  inFile: true,
};

/** A database that several machines share. Who names it reads what runs tell there, so no project may. */
const storeUrl: Setting<string | null> = {
  name: "store.url",
  wants: "a URL that begins with postgres://",
  fallback: null,
  env: "PAI_STORE_URL",
  fromText: (url) => url.trim(),
  check: (json) => (typeof json === "string" && /^postgres(ql)?:\/\/\S+$/.test(json.trim()) ? json.trim() : null),
  shown: (json) =>
    typeof json === "string"
      ? json.replace(/^(\w+:\/\/[^/?#:@]*):.*@/, "$1:***@").replace(/(password=)[^&]*/gi, "$1***")
      : json,
  inFile: true,
  userOnly: true,
};

/** All settings but the base URLs. */
export const settingTable = {
  model: text("model", "a model such as gemini:gemini-2.5-flash-lite", "gemini:gemini-2.5-flash-lite", {
    env: "PAI_MODEL",
    flag: "model",
  }),
  temperature,
  mode,
  calls: cap("limits.calls", "a whole number", true, { env: "PAI_MAX_CALLS", flag: "maxCalls" }),
  tokens: cap("limits.tokens", "a whole number", true, { env: "PAI_MAX_TOKENS", flag: "maxTokens" }),
  cost: cap("limits.cost", "an amount in USD", false, { env: "PAI_MAX_COST", flag: "maxCost" }),
  timeout: { ...duration("limits.timeout", Number.MAX_SAFE_INTEGER), fallback: null, flag: "timeout", narrow: lower },
  silence: { ...duration("limits.silence", 86_400), fallback: null },
  actions,
  guardLines,
  guardRatio,
  guardStrict: {
    ...switched("guard.strict", { env: "PAI_MODIFY_STRICT", lenient: true }),
    narrow: (current: boolean, wanted: boolean) => current || wanted,
  },
  allow: list("policy.allow"),
  deny: {
    ...list("policy.deny"),
    narrow: (current: readonly string[], wanted: readonly string[]) => [...new Set([...current, ...wanted])],
  },
  checks: list("checks", { flag: "check" }),
  checkWait: { ...duration("checks.wait", 600), fallback: 20 },
  commandEnv: list("commands.env"),
  sandbox,
  checkNetwork: {
    ...switched("checks.network", {}),
    fallback: true,
    narrow: (current: boolean, wanted: boolean) => current && wanted,
  },
  checkThrowaway: {
    ...switched("checks.throwaway", {}),
    narrow: (current: boolean, wanted: boolean) => current || wanted,
  },
  commandTimeout: { ...duration("commands.timeout", 120), fallback: 30 },
  prices,
  mcpServers,
  storeUrl,
  strict: {
    ...switched("strict", { env: "PAI_STRICT", flag: "strict" }),
    narrow: (current: boolean, wanted: boolean) => current || wanted,
  },
  memory: {
    ...switched("memory", {}),
    wants: "on or off",
    check: (json: Json): boolean | null =>
      json === "on" || json === "off" ? json === "on" : typeof json === "boolean" ? json : null,
    narrow: (current: boolean, wanted: boolean) => current && wanted,
  },
  plain: switched("plain", { flag: "plain" }),
  forceRoot: switched("forceRoot", { flag: "forceRoot" }),
  historyDir: { ...text("historyDir", "a folder", ".pai_history", { env: "PAI_HISTORY_DIR" }), inFile: false },
  debug: { ...switched("debug", { env: "PAI_DEBUG", flag: "debug", lenient: true }), inFile: false },
} as const;

export const allSettings = [...Object.values(settingTable), ...Object.values(baseUrlSettings)];
