/** The table of all settings: name, variable, flag, allowed values, and how far a project may narrow each. */

import {
  type SandboxChoice,
  type SandboxUse,
  sandboxChoices,
  sandboxUses,
  stricterChoice,
} from "../core/command/sandbox.ts";
import { type Effort, efforts, type Fields, type Json } from "../core/model.ts";
import { type AtOnceChoice, atOnceChoices } from "../core/plan/at-once.ts";
import { byProvider, defaultModel } from "../core/providers.ts";
import { type McpServer, readServers } from "./mcp-servers.ts";
import { models } from "./model-settings.ts";
import { ownProviders } from "./own-providers.ts";
import {
  asJson,
  asNumber,
  cap,
  choice,
  clamp,
  duration,
  isNumber,
  joinTexts,
  listKind,
  lower,
  nonEmpty,
  readCommand,
  type Setting,
  switched,
  type Texts,
  textKind,
  wholeNumber,
} from "./setting-kinds.ts";

export const modes = ["single-shot", "eight-step", "tool-loop", "auto"] as const;
export type Mode = (typeof modes)[number];

const either = (current: boolean, wanted: boolean): boolean => current || wanted;

/** How much each mode may do and spend beyond its first plan. */
const rightsOf: Readonly<Record<Mode, number>> = { "single-shot": 0, "eight-step": 1, auto: 2, "tool-loop": 2 };

const mode: Setting<Mode> = {
  ...choice("mode", modes, "single-shot", { flag: "mode" }),
  // A project may only choose a mode with fewer rights: without a plan every file may change, with more calls.
  narrow: (current, wanted) => (rightsOf[wanted] <= rightsOf[current] ? wanted : current),
};

const sandbox: Setting<SandboxChoice> = {
  ...choice("sandbox", sandboxChoices, "auto", { flag: "sandbox" }),
  narrow: stricterChoice,
};

/** By folder, "/" for all: the weakest sandbox for checks that the user typed. */
const checkSandbox: Setting<Readonly<Record<string, SandboxUse>>> = {
  name: "checks.sandbox",
  wants: `one of ${sandboxUses.join(", ")}, or by folder: {"/etc/nginx": "off"}`,
  schema: {
    anyOf: [
      { enum: [...sandboxUses] },
      { type: "object", propertyNames: { pattern: "^/" }, additionalProperties: { enum: [...sandboxUses] } },
    ],
  },
  fallback: {},
  flag: "checkSandbox",
  fromText: asJson,
  check(json) {
    const isUse = (value: unknown): value is SandboxUse => sandboxUses.some((known) => known === value);
    if (isUse(json)) return { "/": json };
    if (typeof json !== "object" || json === null || Array.isArray(json)) return null;
    const entries = Object.entries(json);
    const isRight = entries.every(([folder, use]) => folder.startsWith("/") && isUse(use));
    return isRight ? (Object.fromEntries(entries) as Record<string, SandboxUse>) : null;
  },
  userOnly: true,
};

const atOnce: Setting<AtOnceChoice> = {
  ...choice("at_once", atOnceChoices, "auto"),
  // A project may only ask for a plan first.
  narrow: (current, wanted) => (wanted === "never" ? wanted : current),
};

/** null: each model's own. */
const temperature: Setting<number | null> = {
  name: "temperature",
  wants: "a number from 0 to 2",
  schema: { type: "number" },
  fallback: null,
  fromText: asNumber,
  check: (json) => (isNumber(json) ? clamp(json, 0, 2) : null),
  lenient: true,
};

const asEffort = (json: unknown): Effort | null => efforts.find((known) => known === json) ?? null;

/**
 * How hard models are to think, for plans and for all other calls; null: as they do by themselves. It may cost more, so an
 * untrusted project cannot set it.
 */
const effort: Setting<Readonly<Record<"plan" | "work", Effort | null>>> = {
  name: "effort",
  wants: `one of ${efforts.join(", ")}, or {"plan": LEVEL, "work": LEVEL}`,
  schema: {
    anyOf: [
      { enum: [...efforts] },
      { type: "object", propertyNames: { enum: ["plan", "work"] }, additionalProperties: { enum: [...efforts] } },
    ],
  },
  fallback: { plan: null, work: null },
  flag: "effort",
  hasEntries: true,
  fromText: (value) => value.trim(),
  check(json) {
    const both = asEffort(json);
    if (both !== null) return { plan: both, work: both };
    if (typeof json !== "object" || json === null || Array.isArray(json)) return null;
    const parts = Object.entries(json);
    const isRight = parts.every(([job, level]) => /^(?:plan|work)$/.test(job) && asEffort(level) !== null);
    return isRight ? { plan: null, work: null, ...json } : null;
  },
  shown: (json) => (Object.values(json as Fields).every((level) => level === null) ? null : json),
};

/** For each project: number of runs that can be undone, receipts and logs. */
const keep = wholeNumber("keep", { low: 1, high: 10_000, fallback: 200 });

const guardLines: Setting<number> = {
  name: "guard.lines",
  wants: "a whole number of at least 1",
  schema: { type: "integer", minimum: 1 },
  fallback: 500,
  fromText: asNumber,
  check: (json) => (isNumber(json) && Number.isInteger(json) && json >= 1 ? json : null),
  lenient: true,
  narrow: lower,
};

/** Addresses of providers that differ from the default. */
export const baseUrlSettings = byProvider(({ id }): Setting<string | null> => {
  const check = (json: Json): string | null =>
    typeof json === "string" && URL.canParse(json.trim()) ? json.trim() : null;
  const fixed = { name: `baseUrl.${id}`, wants: "a URL", schema: nonEmpty, fallback: null } as const;
  return { ...fixed, fromText: (url) => url, check };
});

const mcpServers: Setting<readonly McpServer[]> = {
  name: "mcpServers",
  wants: 'MCP servers by name, {"name": {"command": "program", "args": []}} or {"name": {"url": "https://…"}}',
  schema: { type: "object", additionalProperties: { type: "object" } },
  fallback: [],
  fromText: asJson,
  check: (json) => readServers(json, "config.json"),
};

/** A database that several machines share. Whoever chooses it can read the runs sent there, so no project may. */
const storeUrl: Setting<string | null> = {
  name: "store.url",
  wants: "a URL that begins with postgres://",
  schema: { type: "string", pattern: "^\\s*postgres(ql)?:\\/\\/\\S+\\s*$" },
  fallback: null,
  env: "PAI_STORE_URL",
  fromText: (url) => url.trim(),
  check: (json) => (typeof json === "string" && /^postgres(ql)?:\/\/\S+$/.test(json.trim()) ? json.trim() : null),
  shown: (json) =>
    typeof json === "string"
      ? json.replace(/^(\w+:\/\/[^/?#:@]*):.*@/, "$1:***@").replace(/(password=)[^&]*/gi, "$1***")
      : json,
  userOnly: true,
};

/** Program that is notified when a long run ends. It runs outside the sandbox, so no project may choose it. */
const notify: Setting<Texts | null> = {
  name: "notify",
  wants: "bell, a command without quotes, or a list of its words",
  schema: {
    anyOf: [
      { type: "string", pattern: "^(?=.*\\S)[^\"'`$;&|<>()\\\\\\n]+$" },
      { type: "array", items: nonEmpty, minItems: 1 },
    ],
  },
  fallback: null,
  fromText: (words) => words,
  check: readCommand,
  userOnly: true,
};

/** All settings except the base URLs. To add one, write a row: `Settings` then has its value under the row's key. */
export const settingTable = {
  /** `provider:name`, or a bare name. */
  model: textKind("model", `a model such as ${defaultModel}`, defaultModel, {
    env: "PAI_MODEL",
    flag: "model",
  }),
  temperature,
  effort,
  mode,
  calls: cap("limits.calls", "a whole number", true, { env: "PAI_MAX_CALLS", flag: "maxCalls" }),
  tokens: cap("limits.tokens", "a whole number", true, { env: "PAI_MAX_TOKENS", flag: "maxTokens" }),
  cost: cap("limits.cost", "an amount in USD", false, { env: "PAI_MAX_COST", flag: "maxCost" }),
  dayCalls: cap("limits.day.calls", "a whole number", true),
  dayTokens: cap("limits.day.tokens", "a whole number", true),
  dayCost: cap("limits.day.cost", "an amount in USD", false),
  timeout: {
    ...duration("limits.timeout", Number.MAX_SAFE_INTEGER),
    fallback: null,
    flag: "timeout",
    narrow: lower,
    bind: lower,
  },
  /** Seconds without data after which a connection counts as dead; null: as in the provider's row. */
  silence: { ...duration("limits.silence", 86_400), fallback: null, bind: lower },
  guardLines,
  allow: {
    ...listKind("policy.allow"),
    bind: (bound: Texts, wanted: Texts) => wanted.filter((text) => bound.includes(text)),
  },
  deny: { ...listKind("policy.deny"), narrow: joinTexts, bind: joinTexts },
  checks: listKind("checks", { flag: "check" }),
  keep,
  commandEnv: listKind("commands.env"),
  /** Paths outside the project that commands may change. */
  commandWritable: { ...listKind("commands.writable"), userOnly: true },
  /** The weakest sandbox that commands may run in. */
  sandbox,
  checkSandbox,
  commandTimeout: { ...duration("commands.timeout", 3600), flag: "commandTimeout", fallback: 30 },
  models,
  providers: ownProviders,
  mcpServers,
  storeUrl,
  /** Grants nothing beyond the plan. */
  strict: {
    ...switched("strict", { flag: "strict" }),
    narrow: either,
  },
  /** Lets the first answer of a small task be the work itself. */
  atOnce,
  /** Learns facts from runs. */
  memory: {
    ...switched("memory", {}),
    wants: "on or off",
    schema: { enum: ["on", "off", true, false] },
    check: (json: Json): boolean | null =>
      json === "on" || json === "off" ? json === "on" : typeof json === "boolean" ? json : null,
    narrow: (current: boolean, wanted: boolean) => current && wanted,
  },
  notify,
  /** Whether keys may travel over plain http to another machine. */
  insecureHttp: { ...switched("insecureHttp", {}), userOnly: true },
} as const;

export const allSettings = [...Object.values(settingTable), ...Object.values(baseUrlSettings)];
