/** How far a streaming reply is, for the terminal's waiting line: steps of a plan, lines of a file. */

import type { Purpose } from "./model.ts";
import { type Form, rowOf } from "./vocabulary.ts";

/** What is known of a reply that is still arriving. */
export interface ReplyProgress {
  /** Estimated tokens of thoughts; 0 once the reply itself has begun. */
  readonly thought: number;
  /** Steps of a plan that have begun; null: the reply is not a plan, or no step has begun. */
  readonly step: number | null;
  /** The file that an action script writes now, and how many lines of it have come; null: none. */
  readonly file: { readonly path: string; readonly lines: number } | null;
}

export interface ProgressReader {
  readonly push: (kind: "text" | "thought", text: string) => void;
  readonly read: () => ReplyProgress;
}

const charactersPerToken = 4;
const plans: ReadonlySet<Purpose> = new Set(["plan", "replan", "repair"]);
const scripts: ReadonlySet<Purpose> = new Set(["execute", "resume", "heal"]);
/** Begins a step in the plan's JSON; a chunk of the stream may end inside it. */
const stepKey = /"action"\s*:/g;
const longestKey = 16;
/** The header of an action with a path: `WRITE:: src/a.ts`. */
const header = /^\s*(?:[`*]*)([A-Z]{2,12})::\s*(\S[^\r\n]*?)\s*$/;
const longestHeader = 300;
const formsWithBody: ReadonlySet<Form> = new Set(["content", "edits"]);

function openPlan(): { readonly push: (text: string) => void; readonly steps: () => number } {
  let steps = 0;
  let tail = "";
  return {
    push(text) {
      const whole = tail + text;
      let end = 0;
      for (const found of whole.matchAll(stepKey)) {
        steps += 1;
        end = found.index + found[0].length;
      }
      tail = whole.slice(Math.max(end, whole.length - longestKey));
    },
    steps: () => steps,
  };
}

function openScript() {
  let file: { path: string; lines: number } | null = null;
  let line = "";
  const end = () => {
    const [, name = "", target = ""] = header.exec(line) ?? [];
    const form = rowOf(name)?.form;
    if (form !== undefined) {
      const path = target.split("::")[0] ?? target;
      file = formsWithBody.has(form) ? { path, lines: 0 } : null;
    } else if (file !== null && name !== "END") file.lines += 1;
    line = "";
  };
  return {
    push(text: string) {
      const parts = text.split("\n");
      for (const [at, part] of parts.entries()) {
        if (line.length < longestHeader) line += part;
        if (at < parts.length - 1) end();
      }
    },
    file: () => file,
  };
}

export function readProgress(purpose: Purpose): ProgressReader {
  const plan = plans.has(purpose) ? openPlan() : null;
  const script = scripts.has(purpose) ? openScript() : null;
  let thought = 0;
  /** Text since the last `read`; it is read lazily, since most replies end before anybody asks. */
  let unread = "";
  return {
    push(kind, text) {
      if (kind === "thought") {
        thought += text.length;
        return;
      }
      thought = 0;
      unread += text;
    },
    read() {
      plan?.push(unread);
      script?.push(unread);
      unread = "";
      const steps = plan?.steps() ?? 0;
      const file = script?.file() ?? null;
      return {
        thought: Math.ceil(thought / charactersPerToken),
        step: steps === 0 ? null : steps,
        file: file === null ? null : { ...file },
      };
    },
  };
}
