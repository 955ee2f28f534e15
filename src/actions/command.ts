/** The action that runs a command; `perform` decides whether it may. */
import * as z from "zod/mini";
import { defineAction } from "./read-input.ts";

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
