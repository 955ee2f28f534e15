/** The prompts with their lists of actions. */
import type { Row } from "../../core/action-row.ts";
import { vocabulary } from "../../core/vocabulary.ts";
import act from "./act.md" with { type: "text" };
import compact from "./compact.md" with { type: "text" };
import execute from "./execute.md" with { type: "text" };
import explore from "./explore.md" with { type: "text" };
import integrity from "./integrity.md" with { type: "text" };
import plan from "./plan.md" with { type: "text" };
import schedule from "./schedule.md" with { type: "text" };
import script from "./script.md" with { type: "text" };
import summary from "./summary.md" with { type: "text" };
import toolLoop from "./tool-loop.md" with { type: "text" };

/** Fills the lists of actions in for `{looks}`, `{changes}`, `{commands}` and `{one-line actions}`. */
function listActions(prompt: string): string {
  const planned = (kind: Row["kind"]) =>
    vocabulary.flatMap((row) => (row.kind === kind && row.plan ? [row.plan] : [])).join(", ");
  const oneLine = (kind: Row["kind"]) => vocabulary.flatMap((row) => (row.kind === kind ? (row.script ?? []) : []));
  return prompt
    .replace("{looks}", planned("look"))
    .replace("{changes}", planned("change"))
    .replace("{commands}", planned("command"))
    .replace("{one-line actions}", [...oneLine("change"), ...oneLine("look"), ...oneLine("command")].join("\n"));
}

export const planPrompt = (): string => listActions(plan);
export const schedulePrompt = (): string => listActions(schedule);
/** The prompt for carrying out an approved plan in one script. */
export const executePrompt = (): string => `${execute}\n${listActions(script)}`;
/** The prompt for carrying out one step of eight-step in one script. */
export const actPrompt = (): string => `${act}\n${listActions(script)}`;
/** Characters of `executePrompt` without its lists. */
export const executeLength = (): number => execute.length + script.length;
export const integrityPrompt = (): string => integrity;
export const summaryPrompt = (): string => summary;
export const explorePrompt = (): string => explore;
export const compactPrompt = (): string => compact;
export const loopPrompt = (): string => toolLoop.trim();
