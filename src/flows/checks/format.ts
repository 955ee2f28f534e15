/** The user's formatters: they run on what the run has changed, before its checks, and what they change is the run's. */

import { lastLineOf } from "../../core/command/check-output.ts";
import { quoteForShell } from "../../core/command/quote.ts";
import type { RelPath } from "../../core/path.ts";
import { nameSome } from "../../core/suggest.ts";
import { runInWorkspace } from "../commands/commands.ts";
import { describeEnd, dropEffects } from "../effects.ts";
import type { Run } from "../run.ts";
import { ownChanges } from "./checking.ts";
import { weakestFor } from "./rights.ts";

/** The place of a file's name in a formatter that runs once for each. */
const fileMark = "{}";

function filesOf(run: Run): readonly RelPath[] {
  const last = new Map(ownChanges(run).map((change) => [change.path, change]));
  return [...last.values()].filter(({ after }) => after?.kind === "file").map(({ path }) => path);
}

const spell = (command: string, files: readonly RelPath[]): readonly string[] =>
  command.includes(fileMark) ? files.map((path) => command.replaceAll(fileMark, quoteForShell(path))) : [command];

type Tell = (level: "info" | "warning", text: string) => void;

/** Runs one command line of a formatter; returns which of the files it changed. What it changes elsewhere is taken back. */
async function runFormatter(run: Run, text: string, files: readonly RelPath[], tell: Tell) {
  const { checking } = run;
  const weakest = weakestFor(run, text);
  const options = { by: "user", weakest, timeoutMs: checking.checkTimeoutMs, sandbox: "in-place" } as const;
  const result = await runInWorkspace(run, text, options);
  const { changes, refused } = result.effects;
  const own = changes.filter(({ path }) => files.includes(path));
  for (const change of own) checking.byUser.delete(change);
  const elsewhere = [...changes, ...refused].map(({ path }) => path).filter((path) => !files.includes(path));
  if (elsewhere.length > 0) {
    await dropEffects(run, result.effects, new Set(elsewhere));
    tell("info", `what it changed elsewhere was taken back: ${nameSome(elsewhere)}`);
  }
  if (result.exit !== 0) tell("warning", `${describeEnd(result)} ${lastLineOf(result.output)}`.trim());
  return own.map(({ path }) => path);
}

/** Runs the formatters on what the run has changed, once for each state of it. One that fails is told. */
export async function formatChanged(run: Run): Promise<void> {
  const { checking, changing, emit } = run;
  const files = checking.formats.length === 0 || changing.dryRun ? [] : filesOf(run);
  if (files.length === 0 || run.begun?.changes.length === checking.formattedAt) return;
  for (const command of checking.formats) {
    const tell: Tell = (level, text) => emit({ type: "notice", level, code: "format", text: `${command}: ${text}` });
    const formatted = new Set<RelPath>();
    for (const text of spell(command, files))
      for (const path of await runFormatter(run, text, files, tell)) formatted.add(path);
    if (formatted.size === 0) continue;
    const text = `formatted by ${command}: ${nameSome([...formatted])}`;
    emit({ type: "notice", level: "info", code: "formatted", text });
    checking.formatted.add(text);
  }
  checking.formattedAt = run.begun?.changes.length ?? 0;
}
