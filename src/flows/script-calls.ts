/** Turns the actions of a script into calls. Pure. */
import type { Call, Json } from "../core/model.ts";
import { parseReadRange, type ScriptAction } from "../core/script/script.ts";

function inputOf({ cmd, path = "", to = "", arg = "", body = "", blocks = [] }: ScriptAction): Json {
  switch (cmd) {
    case "READ": {
      const range = parseReadRange(arg.trim());
      return range === null ? { path } : { path, start_line: range.from, end_line: range.to };
    }
    case "WRITE":
      return { path, content: body };
    case "MODIFY":
      return { path, edits: blocks.map(({ search, replace, all }) => ({ search, replace, all: all === true })) };
    case "MV":
      return { from: path, to };
    case "RUN":
      return { command: arg };
    case "DIAGNOSE":
      return {};
    case "SNIFF_LOGS":
    case "SEARCH":
    case "GLOB":
      return { pattern: arg };
    default:
      return { path };
  }
}

/** `prefix` makes ids unique over the phases of a run. FINISH is no call. */
export function callsOf(actions: readonly ScriptAction[], prefix: string): readonly Call[] {
  return actions
    .filter(({ cmd }) => cmd !== "FINISH")
    .map((action, at) => ({ id: `${prefix}.${at + 1}`, name: action.cmd, input: inputOf(action) }));
}
