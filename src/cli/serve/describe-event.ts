/** Describes a run's events in a few words, for a client that waits for a tool's result. */
import type { RunEvent } from "../../core/event.ts";
import { counted } from "../../ui/amount.ts";

/** null: nothing to report. Never contains file content. */
export function describeEvent(event: RunEvent): string | null {
  switch (event.type) {
    case "plan.ready":
      return `planned: expected ${counted(event.promise.expected, "call")}, at most ${event.promise.at_most}`;
    case "model.started":
      return `asking ${event.model}: ${event.purpose}`;
    case "changes.applied":
      return `changed ${counted(event.changes.length, "path")}`;
    case "changes.rolled_back":
      return event.changes.length === 0 ? null : `took back ${counted(event.changes.length, "path")}`;
    case "check.finished":
      return `check ${event.when} the change: ${event.passed === true ? "passed" : "did not pass"}`;
    case "notice":
      return event.text;
    default:
      return null;
  }
}
