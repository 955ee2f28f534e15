/** The action that calls a tool of a connected server; whether it may is decided in perform, as for a command. */
import * as z from "zod/mini";
import { defineAction } from "../core/action.ts";
import { isFields } from "../core/model.ts";
import { spellToolCall } from "../core/tool-calls.ts";

export const callTool = defineAction("CALL", {
  input: () => z.object({ command: z.string().check(z.trim(), z.minLength(1)) }),
  tool: {
    input: () => z.object({ tool: z.string(), input: z.optional(z.record(z.string(), z.json())) }),
    toInput: (written) => {
      const { tool, input } = isFields(written) ? written : {};
      return { command: `${String(tool)} ${JSON.stringify(input ?? {})}` };
    },
  },
  async propose({ command }) {
    return { kind: "command", command: spellToolCall(command) };
  },
});
