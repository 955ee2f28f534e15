/** The actions that run a command or call a tool: RUN, CALL, QUERY; `perform` decides whether they may. */
import * as z from "zod/mini";
import { isFields } from "../core/model.ts";
import { spellToolCall } from "../core/tool-calls.ts";
import { type Action, complain, defineAction } from "./read-input.ts";

const maxSeconds = 120;

export const runAction = defineAction("RUN", {
  input: () =>
    z.object({
      command: z.string().check(z.trim(), z.minLength(1)),
      timeout: z.optional(z.number().check(z.describe(`seconds, 1 to ${maxSeconds}`))),
    }),
  async propose({ command, timeout }) {
    const seconds = timeout === undefined ? null : Math.min(Math.max(timeout, 1), maxSeconds);
    return { kind: "command", command, ...(seconds === null ? {} : { timeoutMs: seconds * 1000 }) };
  },
});

const input = () => z.object({ command: z.string().check(z.trim(), z.minLength(1)) });
const named = z.refine<string>((name) => name.includes("."), "must be server.tool, and its arguments the object input");
const tool: Action["tool"] = {
  // Strict: a call without the arguments that a model wrote beside it would do something else.
  input: () => z.strictObject({ tool: z.string().check(named), input: z.optional(z.record(z.string(), z.json())) }),
  toInput: (written) => {
    const { tool: name, input: given } = isFields(written) ? written : {};
    return { command: `${String(name)} ${JSON.stringify(given ?? {})}` };
  },
};

export const callTool = defineAction("CALL", {
  input,
  tool,
  async propose({ command }) {
    return { kind: "command", command: spellToolCall(command) };
  },
});

/** Calls a tool that only looks, and returns its answer; `ok` false: the text says why there is none. */
type AskTool = (command: string, signal: AbortSignal) => Promise<{ readonly ok: boolean; readonly text: string }>;

/** The action QUERY; `ask` calls the tools of the connected servers. */
export const defineQuery = (ask: AskTool) =>
  defineAction("QUERY", {
    input,
    tool,
    async propose({ command }, _stage, signal) {
      const { ok, text } = await ask(spellToolCall(command), signal);
      return ok ? { kind: "answer", text, foreign: true } : complain("nothing_done", text);
    },
  });

export const queryTool = defineQuery(async () => ({ ok: false, text: "no server is connected" }));
