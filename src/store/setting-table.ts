/** The table of all settings: name, variable, flag, allowed values, and how far a project may narrow each. */

import * as z from "zod/mini";
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
  commandShape,
  duration,
  joinTexts,
  listKind,
  lower,
  nonEmpty,
  setting,
  switched,
  type Texts,
  textKind,
  wholeNumber,
  wordsOfCommand,
} from "./setting-kinds.ts";

export const modes = ["single-shot", "eight-step", "tool-loop", "auto"] as const;
export type Mode = (typeof modes)[number];

const either = (current: boolean, wanted: boolean): boolean => current || wanted;

const rightsOf: Readonly<Record<Mode, number>> = { "single-shot": 0, "eight-step": 1, auto: 2, "tool-loop": 2 };

/** A project may only choose a mode with fewer rights: without a plan every file may change, with more calls. */
const mode = choice<Mode>("mode", modes, "single-shot", {
  flag: "mode",
  narrow: (current, wanted) => (rightsOf[wanted] <= rightsOf[current] ? wanted : current),
});

/** By folder, "/" for all: the weakest sandbox for checks that the user typed. */
const checkSandbox = setting<Readonly<Record<string, SandboxUse>>>({
  name: "checks.sandbox",
  wants: `one of ${sandboxUses.join(", ")}, or by folder: {"/etc/nginx": "off"}`,
  shape: z.pipe(
    z.union([z.enum(sandboxUses), z.record(z.string().check(z.regex(/^\//)), z.enum(sandboxUses))]),
    z.transform((use) => (typeof use === "string" ? { "/": use } : use)),
  ),
  fallback: {},
  flag: "checkSandbox",
  fromText: asJson,
  userOnly: true,
});

const temperature = setting<number | null>({
  name: "temperature",
  wants: "a number from 0 to 2",
  shape: z.pipe(
    z.number(),
    z.transform((value) => clamp(value, 0, 2)),
  ),
  fallback: null,
  fromText: asNumber,
});

/** How hard models think, by job; null: as they do by themselves. It may cost more: no untrusted project sets it. */
const effort = setting<Readonly<Record<"plan" | "work", Effort | null>>>({
  name: "effort",
  wants: `one of ${efforts.join(", ")}, or {"plan": LEVEL, "work": LEVEL}`,
  shape: z.pipe(
    z.union([
      z.enum(efforts),
      z.strictObject({ plan: z.optional(z.enum(efforts)), work: z.optional(z.enum(efforts)) }),
    ]),
    z.transform((level) =>
      typeof level === "string" ? { plan: level, work: level } : { plan: level.plan ?? null, work: level.work ?? null },
    ),
  ),
  fallback: { plan: null, work: null },
  flag: "effort",
  hasEntries: true,
  fromText: (value) => value.trim(),
  shown: (json) => (Object.values(json as Fields).every((level) => level === null) ? null : json),
});

const guardLines = setting<number>({
  name: "guard.lines",
  wants: "a whole number of at least 1",
  shape: z.int().check(z.minimum(1)),
  fallback: 500,
  fromText: asNumber,
  narrow: lower,
});

export const baseUrlSettings = byProvider(({ id }) =>
  textKind(`baseUrl.${id}`, "a URL", null, { shape: nonEmpty.check(z.refine((text) => URL.canParse(text.trim()))) }),
);

const mcpServers = setting<readonly McpServer[]>({
  name: "mcpServers",
  wants: 'MCP servers by name, {"name": {"command": "program", "args": []}} or {"name": {"url": "https://…"}}',
  shape: z.pipe(
    z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .check(z.refine((json) => readServers(json as Json, "config.json") !== null)),
    z.transform((json) => readServers(json as Json, "config.json") ?? []),
  ),
  fallback: [],
  fromText: asJson,
});

/** A database that several machines share. Whoever chooses it can read the runs sent there, so no project may. */
const storeUrl = textKind("store.url", "a URL that begins with postgres://", null, {
  shape: z.string().check(z.regex(/^\s*postgres(ql)?:\/\/\S+\s*$/)),
  env: "PAI_STORE_URL",
  shown: (json) =>
    typeof json === "string"
      ? json.replace(/^(\w+:\/\/[^/?#:@]*):.*@/, "$1:***@").replace(/(password=)[^&]*/gi, "$1***")
      : json,
  userOnly: true,
});

/** Program that is notified when a long run ends. It runs outside the sandbox, so no project may choose it. */
const notify = setting<Texts | null>({
  name: "notify",
  wants: "bell, a command without quotes, or a list of its words",
  shape: z.pipe(
    commandShape,
    z.transform((command: string | string[]) => wordsOfCommand(command)),
  ),
  fallback: null,
  fromText: (words) => words,
  userOnly: true,
});

/** All settings except the base URLs. To add one, write a row: `Settings` then has its value under the row's key. */
export const settingTable = {
  model: textKind("model", `a model such as ${defaultModel}`, defaultModel, {
    env: "PAI_MODEL",
    flag: "model",
  }),
  temperature,
  effort,
  mode,
  calls: cap("limits.calls", true, { env: "PAI_MAX_CALLS", flag: "maxCalls" }),
  tokens: cap("limits.tokens", true, { env: "PAI_MAX_TOKENS", flag: "maxTokens" }),
  cost: cap("limits.cost", false, { env: "PAI_MAX_COST", flag: "maxCost" }),
  dayCalls: cap("limits.day.calls", true),
  dayTokens: cap("limits.day.tokens", true),
  dayCost: cap("limits.day.cost", false),
  timeout: duration("limits.timeout", Number.MAX_SAFE_INTEGER, null, { flag: "timeout", narrow: lower, bind: lower }),
  /** Seconds without data after which a connection counts as dead; null: as in the provider's row. */
  silence: duration("limits.silence", 86_400, null, { bind: lower }),
  guardLines,
  allow: listKind("policy.allow", { bind: (bound, wanted) => wanted.filter((text) => bound.includes(text)) }),
  deny: listKind("policy.deny", { narrow: joinTexts, bind: joinTexts }),
  checks: listKind("checks", { flag: "check" }),
  /** For each project: number of runs that can be undone, receipts and logs. */
  keep: wholeNumber("keep", 1, 10_000, 200),
  commandEnv: listKind("commands.env"),
  commandWritable: listKind("commands.writable", { userOnly: true }),
  sandbox: choice<SandboxChoice>("sandbox", sandboxChoices, "auto", { flag: "sandbox", narrow: stricterChoice }),
  checkSandbox,
  commandTimeout: duration("commands.timeout", 3600, 30, { flag: "commandTimeout" }),
  models,
  providers: ownProviders,
  mcpServers,
  storeUrl,
  strict: switched("strict", { flag: "strict", narrow: either }),
  /** Lets the first answer of a small task be the work itself. A project may only ask for a plan first. */
  atOnce: choice<AtOnceChoice>("at_once", atOnceChoices, "auto", {
    narrow: (current, wanted) => (wanted === "never" ? wanted : current),
  }),
  memory: switched("memory", { narrow: (current, wanted) => current && wanted }),
  notify,
  insecureHttp: switched("insecureHttp", { userOnly: true }),
} as const;

export const allSettings = [...Object.values(settingTable), ...Object.values(baseUrlSettings)];
