/** The prompts with their lists of actions. */
import { type Row, vocabulary } from "../../core/vocabulary.ts";
import { atOnceBounds } from "../../core/plan/at-once.ts";
import act from "./act.md" with { type: "text" };
import atOnce from "./at-once.md" with { type: "text" };
import compact from "./compact.md" with { type: "text" };
import explore from "./explore.md" with { type: "text" };
import integrity from "./integrity.md" with { type: "text" };
import schedule from "./eight-step-plan.md" with { type: "text" };
import script from "./script.md" with { type: "text" };
import summary from "./summary.md" with { type: "text" };
import toolLoop from "./tool-loop.md" with { type: "text" };
import work from "./plan-and-work.md" with { type: "text" };

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

const amendRules = {
  strict: "Only the paths and commands of the plan; anything else is refused.",
  amends:
    "Only the paths and commands of the plan. If the task needs one more, write AMEND::ACTION::path::why on the line before that action (MV, COPY: AMEND::MV::from::to::why); pai or the user decides. A planned step that is not needed after all: SKIP::path::why.",
} as const;

const scriptRules = (isStrict: boolean): string =>
  listActions(script).replace("{amend rule}", amendRules[isStrict ? "strict" : "amends"]);

export const schedulePrompt = (): string => listActions(schedule);
/** The one prompt of a plan and of the work after it: a service that keeps beginnings reads it once. */
export const planAndWorkPrompt = (isStrict: boolean): string => `${listActions(work)}${scriptRules(isStrict)}`;
/** The prompt of a task that may be done with the first answer. `lines`: about how many new lines one answer may have. */
export const atOncePrompt = (lines: number, interactive: boolean): string =>
  atOnce
    .replace("{lines}", `${lines}`)
    .replace("{paths}", `${atOnceBounds.paths}`)
    .replace("{ask}", interactive ? " You must ask back: FINISH alone, with your question." : "")
    .replace("{check}", interactive ? " What proves the work here (compile, test, what proved an earlier task): CHECK::command before FINISH." : "") +
  scriptRules(false)
    .replace("- Only the paths", "- In later answers only the paths")
    .replace("commands of the plan", "commands of the first")
    .replace("Example:\n", "Example:\nFILES: src/area.py\nI'll let area() use math.pi.\n");
/** What asks for a plan in a dialogue that began with `atOncePrompt`. */
export const planRequest = (): string => {
  const form = listActions(work);
  return form.slice(form.indexOf("A plan is one JSON value"), form.lastIndexOf("\n\n"));
};
export const actPrompt = (isStrict: boolean): string => `${act}\n${scriptRules(isStrict)}`;
export const integrityPrompt = (): string => integrity;
export const summaryPrompt = (): string => summary;
export const explorePrompt = (): string => explore;
export const compactPrompt = (): string => compact;
export const loopPrompt = (): string => toolLoop.trim();
