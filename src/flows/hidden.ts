/** Tells people, once a file, that what the model is shown holds characters they cannot see. */
import { describeHidden } from "../core/invisible.ts";
import type { Run } from "./run.ts";

/** `what` is a path, or a look with its target; lines are counted in `text`. The model sees them spelled out. */
export function noteHidden(run: Run, what: string, text: string): void {
  const found = describeHidden(text);
  if (found === null || run.record.hidden.has(what)) return;
  run.record.hidden.add(what);
  run.emit({ type: "notice", level: "warning", code: "hidden_characters", text: `${what}: ${found}` });
}
