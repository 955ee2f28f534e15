/** The commands that are no task, no session and no server: small ones, which are loaded together. */
import { applyCommand } from "./apply.ts";
import { completionCommand } from "./completion.ts";
import { configCommand, keyCommand } from "./config.ts";
import { contextCommand } from "./context.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { historyCommand, redoCommand, undoCommand } from "./history.ts";
import { memoryCommand } from "./memory.ts";
import { modelsCommand } from "./models.ts";
import { replayCommand } from "./replay.ts";
import { schemaCommand } from "./schema.ts";
import { trustCommand } from "./trust.ts";
import { uninstallCommand } from "./uninstall.ts";

export const small = {
  apply: applyCommand,
  completion: completionCommand,
  config: configCommand,
  context: contextCommand,
  demo: demoCommand,
  doctor: doctorCommand,
  history: historyCommand,
  key: keyCommand,
  memory: memoryCommand,
  models: modelsCommand,
  redo: redoCommand,
  replay: replayCommand,
  schema: schemaCommand,
  trust: trustCommand,
  undo: undoCommand,
  uninstall: uninstallCommand,
} as const;
