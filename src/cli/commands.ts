/** The table of commands: what exists, and what each takes. Code loads only when a command runs. */
import type { Command } from "./command.ts";
import { flagsNamed } from "./flags.ts";

const output = flagsNamed("json", "quiet", "verbose", "no-color", "plain", "debug");
const everywhere = flagsNamed("help", "version");
const asking = flagsNamed(
  "model",
  "temperature",
  "mode",
  "cwd",
  "yes",
  "jsonl",
  "no-input",
  "max-calls",
  "max-tokens",
  "max-cost",
  "timeout",
  "only",
  "ephemeral",
  "force-root",
  "insecure-http",
);
const tasking = flagsNamed("file", "stdin", "no-plan-cache");
const acting = flagsNamed("check", "allow-delete", "allow-run", "keep");

const define = (command: Command): Command => ({ ...command, flags: [...command.flags, ...output, ...everywhere] });

export const commands: readonly Command[] = [
  define({
    name: "run",
    about: "do one task, then exit",
    usage: "[TASK|-]",
    flags: [...asking, ...tasking, ...acting, ...flagsNamed("dry-run")],
    examples: [
      'pai run -y "add a --version flag to cli.py"',
      'pai run -y --check "pytest -q" "fix the failing test"',
      "pai run --json - < task.txt",
    ],
    run: async (context) => (await import("./task.ts")).runCommand(context),
  }),
  define({
    name: "plan",
    about: "make the plan only; -o saves it for pai apply",
    usage: "[TASK|-]",
    flags: [...asking, ...tasking, ...flagsNamed("output", "full", "check", "allow-delete", "allow-run")],
    examples: [
      'pai plan -o plan.json "split utils.py into modules"',
      'pai plan --full -o plan.json "rename the package"',
    ],
    run: async (context) => (await import("./task.ts")).planCommand(context),
  }),
  define({
    name: "apply",
    about: "carry out a saved plan",
    usage: "PLAN.json",
    flags: [...asking, ...acting, ...flagsNamed("dry-run")],
    examples: ["pai apply -y plan.json"],
    run: async (context) => (await import("./apply.ts")).applyCommand(context),
  }),
  define({
    name: "undo",
    about: "take back the changes of a run",
    usage: "[RUN]",
    flags: flagsNamed("cwd", "yes", "dry-run", "no-input", "force-root"),
    examples: ["pai undo", "pai undo --dry-run", "pai undo -y 20261121"],
    run: async (context) => (await import("./history.ts")).undoCommand(context),
  }),
  define({
    name: "redo",
    about: "bring back what undo took back",
    usage: "[RUN]",
    flags: flagsNamed("cwd", "yes", "dry-run", "no-input", "force-root"),
    examples: ["pai redo"],
    run: async (context) => (await import("./history.ts")).redoCommand(context),
  }),
  define({
    name: "history",
    about: "list the runs in this folder",
    usage: "",
    flags: flagsNamed("cwd", "prune", "force-root"),
    examples: ["pai history", "pai history --prune"],
    run: async (context) => (await import("./history.ts")).historyCommand(context),
  }),
  define({
    name: "log",
    about: "check the receipts of runs: is every line as it was written?",
    usage: "verify [RUN]",
    flags: flagsNamed("cwd", "force-root"),
    examples: ["pai log verify", "pai log verify 20261121"],
    run: async (context) => (await import("./log.ts")).logCommand(context),
  }),
  define({
    name: "replay",
    about: "do a run again offline from its receipt, on paper: is it the same tree?",
    usage: "RUN",
    flags: flagsNamed("cwd", "force-root"),
    examples: ["pai replay 20261121"],
    run: async (context) => (await import("./replay.ts")).replayCommand(context),
  }),
  define({
    name: "config",
    about: "keys and settings",
    usage: "set|add|list|show|validate|remove|set-default|reset|get|put",
    flags: flagsNamed("provider", "online", "no-input", "yes", "insecure-http", "set", "show", "remove"),
    examples: ["pai config set < key.txt", "pai config add work", "pai config list", "pai config put limits.calls 6"],
    run: async (context) => (await import("./config.ts")).configCommand.run(context),
  }),
  define({
    name: "demo",
    about: "see the whole way of a task, offline, in a temporary folder",
    usage: "",
    flags: flagsNamed("keep"),
    examples: ["pai demo"],
    run: async (context) => (await import("./demo.ts")).demoCommand(context),
  }),
  define({
    name: "doctor",
    about: "check this installation, its settings and protections",
    usage: "",
    flags: flagsNamed("cwd", "offline", "model", "force-root", "insecure-http"),
    examples: ["pai doctor", "pai doctor --json --offline"],
    run: async (context) => (await import("./doctor.ts")).doctorCommand.run(context),
  }),
  define({
    name: "models",
    about: "list providers, keys present, known models and windows",
    usage: "",
    flags: [],
    examples: ["pai models"],
    run: async (context) => (await import("./models.ts")).modelsCommand(context),
  }),
  define({
    name: "trust",
    about: "let this folder's pai.json do more than narrow",
    usage: "",
    flags: flagsNamed("cwd", "revoke", "yes", "force-root"),
    examples: ["pai trust", "pai trust --revoke"],
    run: async (context) => (await import("./trust.ts")).trustCommand.run(context),
  }),
  define({
    name: "schema",
    about: "print the JSON Schema of a plan, of --json or of --jsonl",
    usage: "plan|json|jsonl",
    flags: [],
    examples: ["pai schema json"],
    run: async (context) => (await import("./schema.ts")).schemaCommand(context),
  }),
  define({
    name: "completion",
    about: "print the completion script of a shell",
    usage: "bash|zsh|fish",
    flags: [],
    examples: ["source <(pai completion bash)", "pai completion fish > ~/.config/fish/completions/pai.fish"],
    run: async (context) => (await import("./completion.ts")).completionCommand(context, commands),
  }),
  define({
    name: "auto",
    about: "the interactive session, like pai without arguments",
    usage: "",
    flags: [...asking, ...acting, ...flagsNamed("dry-run", "no-plan-cache", "continue")],
    examples: ["pai", "pai auto --continue"],
    run: async (context) => (await import("./session.ts")).sessionCommand(context),
  }),
  define({
    name: "resume",
    about: "go on with a saved session: the last one, or the one named",
    usage: "[ID]",
    flags: [...asking, ...acting, ...flagsNamed("dry-run", "no-plan-cache")],
    examples: ["pai resume", "pai resume 20261121"],
    run: async (context) => (await import("./sessions.ts")).resumeCommand(context),
  }),
  define({
    name: "sessions",
    about: "saved sessions of this folder",
    usage: "[list|show|export|prune] [ID]",
    flags: flagsNamed("cwd", "force-root"),
    examples: ["pai sessions", "pai sessions export 20261121 > talk.md"],
    run: async (context) => (await import("./sessions.ts")).sessionsCommand(context),
  }),
  define({
    name: "help",
    about: "show help, of pai or of one command",
    usage: "[COMMAND]",
    flags: [],
    examples: ["pai help run"],
    run: async (context) => (await import("./help.ts")).helpCommand(context, commands),
  }),
];

export const findCommand = (name: string): Command | undefined => commands.find((command) => command.name === name);
