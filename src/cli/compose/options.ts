/** The flow of a run and its options: what flags and settings say, its id and time limit. */

import { resolve } from "node:path";
import { PaiError } from "../../core/error.ts";
import type { CheckRights } from "../../flows/checks/checking.ts";
import type { Flow, RunOptions } from "../../flows/run.ts";
import { singleShot } from "../../flows/single-shot.ts";
import { isSystemFolder } from "../../store/audit.ts";
import { openPlaces } from "../../store/places.ts";
import { settingTable } from "../../store/setting-table.ts";
import { type LoadedSettings, projectFile, type Settings } from "../../store/settings.ts";
import { realPathOf } from "../../system/lookups.ts";
import type { SandboxSettings } from "../../workspace/sandbox/settings.ts";
import type { Context } from "../command.ts";
import { version } from "../commands/version.ts";
import { allowFlag, commitFlag, onlyFlag, runFlag } from "../flags.ts";
import { describeEnvironment, readOuterGuides } from "./surroundings.ts";

/** The folder .git of the project, whose content can run code later. */
const isGit = (path: string) => /^(?:\.\/)?\.git\/?$/.test(path);

export function composeSandbox({ flags }: Context, settings: Settings): SandboxSettings {
  const written = flags.allowWrite ?? [];
  return {
    choice: settings.sandbox,
    network: flags.allowNet === true,
    writable: [...settings.commands.writable, ...written].filter((path) => !isGit(path)),
    readable: flags.allowRead ?? [],
    git: written.some(isGit),
  };
}

/** UTC time to the millisecond and 16 random bits, so that ids sort by time. */
export function makeRunId(now: Date): string {
  const digits = now.toISOString().replaceAll("-", "").replaceAll(":", "");
  const stamp = `${digits.slice(0, 8)}-${digits.slice(9, 15)}${digits.slice(16, 19)}`;
  return `${stamp}-${Buffer.from(crypto.getRandomValues(new Uint8Array(2))).toString("hex")}`;
}

/** Aborts with `timeout` at the time limit, or with the process's signal. */
export function limitTime(signal: AbortSignal, seconds: number | null) {
  if (seconds === null) return { signal, end: () => {} };
  const controller = new AbortController();
  const stop = () => controller.abort(new PaiError("timeout", `the time limit of ${seconds} s is over`));
  const timer = setTimeout(stop, seconds * 1000);
  return { signal: AbortSignal.any([signal, controller.signal]), end: () => clearTimeout(timer) };
}

/** Of the user's checks in the working folder; of `checks.sandbox` the entry of the nearest folder counts. */
function checkRightsOf(folder: string, { checkSandbox }: Settings, origins: LoadedSettings["origins"]): CheckRights {
  const root = realPathOf(folder) ?? folder;
  const above = Object.keys(checkSandbox).filter((each) =>
    `${root}/`.startsWith(each.endsWith("/") ? each : `${each}/`),
  );
  const nearest = above.sort((a, b) => b.length - a.length)[0];
  return {
    weakest: nearest === undefined ? null : (checkSandbox[nearest] ?? null),
    byProject: origins[settingTable.checks.name] === projectFile,
    inSystem: isSystemFolder(root),
  };
}

export function composeOptions(
  context: Context,
  { settings, origins }: Pick<LoadedSettings, "settings" | "origins">,
  command: string,
  interactive: boolean,
): RunOptions {
  const { flags } = context;
  const { configDir } = openPlaces(context.env);
  const root = resolve(context.cwd, flags.cwd ?? ".");
  return {
    command,
    mode: settings.mode,
    version,
    temperature: settings.temperature,
    effort: settings.effort,
    caps: { calls: settings.limits.calls, tokens: settings.limits.tokens, cost: settings.limits.cost },
    guard: settings.guard,
    maxActions: 15,
    environment: describeEnvironment(context.env, root),
    guides: readOuterGuides(configDir, root),
    only: [onlyFlag(flags)].filter((globs) => globs.length > 0),
    checks: settings.checks,
    formats: flags.format ?? [],
    checkTimeoutMs: 600_000,
    baseline: flags.noBaseline !== true,
    checkWaitMs: 20_000,
    noWorse: flags.noWorse === true,
    commandTimeoutMs: settings.commands.timeout * 1000,
    interactive,
    allowDelete: flags.allowDelete === true,
    allowRun: runFlag(flags),
    commit: commitFlag(flags),
    after: { commands: flags.then ?? [], unverified: flags.thenUnverified === true, again: flags.thenAgain === true },
    allow: allowFlag(context, root),
    strict: settings.strict,
    dryRun: flags.dryRun === true,
    checkRights: checkRightsOf(root, settings, origins),
    keep: flags.keep === true,
    review: flags.review === true ? "change" : false,
    planOnly: false,
    atOnce: flags.planFirst === true ? "never" : settings.atOnce,
  };
}

export async function flowFor(mode: Settings["mode"]): Promise<Flow> {
  switch (mode) {
    case "single-shot":
      return singleShot;
    case "eight-step":
      return (await import("../../flows/eight-step.ts")).eightStep;
    case "auto":
      return (await import("../../flows/auto.ts")).hybrid;
    case "tool-loop":
      return (await import("../../flows/tool-loop/tool-loop.ts")).toolLoop;
  }
}
