/** The action that runs a command; whether it may is decided in perform. */
import * as z from "zod/mini";
import { defineAction } from "../core/action.ts";

export const runCommand = defineAction("RUN", {
  input: () => z.object({ command: z.string().check(z.trim(), z.minLength(1)) }),
  async propose({ command }) {
    return { kind: "command", command };
  },
});
