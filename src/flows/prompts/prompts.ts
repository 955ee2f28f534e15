/** The prompts with their lists of actions, filled while building (imported as macros): no run opens their files or fills them. */
import { listActions } from "../../core/fill-prompt.ts";
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

export const planPrompt = (): string => listActions(plan);
export const schedulePrompt = (): string => listActions(schedule);
/** The plan is approved: carry it out in one script. */
export const executePrompt = (): string => `${execute}\n${listActions(script)}`;
/** One step of eight-step, in a script. */
export const actPrompt = (): string => `${act}\n${listActions(script)}`;
/** Characters of `executePrompt` without its lists. */
export const executeLength = (): number => execute.length + script.length;
export const integrityPrompt = (): string => integrity;
export const summaryPrompt = (): string => summary;
export const explorePrompt = (): string => explore;
export const compactPrompt = (): string => compact;
export const loopPrompt = (): string => toolLoop.trim();
