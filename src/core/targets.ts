/** What the target of an action is, by the form of its row. */
import { rowOf } from "./vocabulary.ts";

/** Whether the action's target is a path; otherwise it is a pattern, a command, or nothing. */
export function namesPath(name: string): boolean {
  const form = rowOf(name)?.form ?? "nothing";
  return !["pattern", "word", "command", "nothing", "message", "amendment"].includes(form);
}

/** Whether the action needs a target; the others have a default. */
export function needsTarget(name: string): boolean {
  const form = rowOf(name)?.form ?? "nothing";
  return !["folder", "word", "nothing", "message"].includes(form);
}
