/** The table of commands and what each takes. A command's code is loaded when it runs. */

import { type Command, type CommandRow, makeCommand } from "./command.ts";
import { helpCommand } from "./commands/help.ts";

const loadTask = () => import("./commands/task.ts");
const loadSessions = () => import("./commands/sessions.ts");
const loadSmall = async () => (await import("./commands/small.ts")).small;
const loadLab = async () => (await import("../lab/commands/lab.ts")).lab;

const everywhere = ["quiet", "verbose", "plain"] as const;
const capping = ["maxCalls", "maxTokens", "maxCost", "timeout"] as const;
const calling = ["model", "effort", "cwd", "noInput", "ephemeral", ...capping] as const;
const asking = [...calling, "mode", "yes", "commandTimeout", "only", "forceRoot"] as const;
const reading = ["file", "stdin", "noStdin", "show"] as const;
const answering = ["outputSchema", "jsonl"] as const;
const granting = ["allow", "allowDelete", "allowRun", "strict", "env"] as const;
const confining = ["sandbox", "checkSandbox", "allowNet", "allowWrite", "allowRead"] as const;
const checking = ["check", "format", "noBaseline", "noWorse", "commit", "keep", "review"] as const;
const acting = [...checking, ...granting, ...confining, "planFirst"] as const;
const finishing = ["then", "thenUnverified", "thenAgain"] as const;
const saving = ["also", "dryRun", "output", "saveChange", "continue"] as const;
const measuring = ["model", "mode", "maxCost", "maxCalls", "maxTokens", "allowRun", "sandbox", "output"] as const;
const reversing = ["cwd", "yes", "merge", "dryRun", "noInput", "forceRoot"] as const;

const define = (row: CommandRow): Command => makeCommand({ ...row, flags: [...row.flags, "json", ...everywhere] });
const more = (row: CommandRow): Command => define({ ...row, group: "more" });
const defineSession = (row: CommandRow): Command => makeCommand({ ...row, flags: [...row.flags, ...everywhere] });

export const session: Command = defineSession({
  name: "session",
  about: "the interactive session",
  flags: [...asking, ...acting, "show", "also", "dryRun", "continue", "help", "version"],
  examples: ["pai", "pai --continue", "pai --also /etc/ssl"],
  load: async () => (await loadSessions()).sessionCommand,
});

export const commands: readonly Command[] = [
  define({
    name: "run",
    about: "do one task, then exit",
    usage: "[TASK|-]",
    flags: [...asking, ...reading, ...acting, ...finishing, ...answering, ...saving],
    examples: [
      'pai run -y "add a --version flag to cli.py"',
      'pai run -y --check "pytest -q" "fix the failing test"',
      "pai run --json - < task.txt",
    ],
    load: async () => (await loadTask()).runCommand,
  }),
  define({
    name: "ask",
    about: "look and answer, in any folder; changes nothing",
    usage: "[QUESTION|-]",
    flags: [...calling, ...reading, ...answering],
    examples: [
      'pai ask "which process listens on port 8080?"',
      'pai ask --show /var/log/nginx "what went wrong last night?"',
      'journalctl -u nginx | pai ask "why does it not start?"',
    ],
    load: async () => (await loadTask()).askCommand,
  }),
  define({
    name: "plan",
    about: "make the plan only; -o saves it for pai apply",
    usage: "[TASK|-]",
    flags: [...asking, ...reading, "also", "output", "full", "check", "allowDelete", "allowRun", "dryRun", "jsonl"],
    examples: [
      'pai plan -o plan.json "split utils.py into modules"',
      'pai plan --full -o plan.json "rename the package"',
    ],
    load: async () => (await loadTask()).planCommand,
  }),
  define({
    name: "apply",
    about: "carry out a saved plan; its hash shows damage, not who made it",
    usage: "PLAN.json",
    flags: [...asking, ...acting, ...finishing, "also", "merge", "dryRun", "jsonl"],
    examples: ["pai apply -y plan.json"],
    load: async () => (await loadSmall()).apply,
  }),
  define({
    name: "undo",
    about: "take back the last run, or the one whose id begins with RUN",
    usage: "[RUN]",
    flags: reversing,
    examples: ["pai undo", "pai undo --dry-run", "pai undo -y 20261121"],
    load: async () => (await loadSmall()).undo,
  }),
  define({
    name: "redo",
    about: "bring back what undo took back",
    usage: "[RUN]",
    flags: reversing,
    examples: ["pai redo"],
    load: async () => (await loadSmall()).redo,
  }),
  define({
    name: "resume",
    about: "go on with a session of this folder: the last one, or the one named",
    usage: "[ID]",
    flags: [...asking, ...reading, "also", ...acting, "dryRun", "jsonl", "outputSchema", "continue", "list", "prune"],
    examples: ["pai resume", "pai resume 20261121", 'pai resume --continue "now the tests"', "pai resume --list"],
    load: async () => (await loadSessions()).resumeCommand,
  }),
  define({
    name: "history",
    about: "list the runs in this folder, or verify their receipts",
    usage: "[--verify RUN]",
    flags: ["cwd", "all", "team", "verify", "prune", "forceRoot"],
    examples: ["pai history", "pai history --all", "pai history --verify", "pai history --prune"],
    load: async () => (await loadSmall()).history,
  }),
  define({
    name: "config",
    about: "settings: get, set, unset, list",
    usage: "get|set|unset|list",
    flags: ["cwd"],
    examples: ["pai config set limits.calls 6", "pai config get model", "pai config list"],
    load: async () => (await loadSmall()).config,
  }),
  define({
    name: "key",
    about: "keys: set, add, list, default, remove, check",
    usage: "set|add|list|default|remove|check",
    flags: ["cwd", "provider", "online", "noInput", "yes"],
    examples: ["pai key set < key.txt", "pai key add work", "pai key list", "pai key check --online"],
    load: async () => (await loadSmall()).key,
  }),
  define({
    name: "models",
    about: "list providers, keys, known models and windows; or ask the servers",
    usage: "[PROVIDER]",
    flags: ["cwd", "online"],
    examples: ["pai models", "pai models --online openrouter"],
    load: async () => (await loadSmall()).models,
  }),
  define({
    name: "doctor",
    about: "check this installation, its settings and protections",
    flags: ["cwd", "online", "offline", "model", "sandbox", "forceRoot"],
    examples: ["pai doctor", "pai doctor --online", "pai doctor --json --offline"],
    load: async () => (await loadSmall()).doctor,
  }),
  define({
    name: "demo",
    about: "watch a whole task, offline, in a temporary folder",
    flags: ["keep"],
    examples: ["pai demo"],
    load: async () => (await loadSmall()).demo,
  }),
  more({
    name: "context",
    about: "show the files of a task and what would be sent; sends nothing",
    usage: "[TASK|-]",
    flags: ["model", "mode", "cwd", "file", "stdin", "check", "allowRun", "maxCalls", "timeout", "forceRoot"],
    examples: ['pai context "fix the failing test"', 'pai context --json "split utils.py into modules"'],
    load: async () => (await loadSmall()).context,
  }),
  more({
    name: "replay",
    about: "repeat the last run, or one, offline from its receipt",
    usage: "[RUN]",
    flags: ["cwd", "forceRoot"],
    examples: ["pai replay", "pai replay 20261121"],
    load: async () => (await loadSmall()).replay,
  }),
  more({
    name: "trust",
    about: "allow this folder's pai.json, commands and skills",
    flags: ["cwd", "revoke", "yes", "noInput", "forceRoot"],
    examples: ["pai trust", "pai trust --revoke"],
    load: async () => (await loadSmall()).trust,
  }),
  more({
    name: "memory",
    about: "facts that pai keeps of this project: list, accept, edit, add, drop",
    usage: "[list|accept|edit|add|drop] [ID|TEXT]",
    flags: ["cwd", "forceRoot"],
    examples: [
      "pai config set memory on",
      "pai memory",
      "pai memory accept all",
      'pai memory add "tests run with: make check"',
    ],
    load: async () => (await loadSmall()).memory,
  }),
  more({
    name: "eval",
    about: "measure models and modes on tasks whose tests they do not see",
    usage: "run|worker|report|import [TASKS…]",
    flags: [...measuring, "repeat", "jobs", "shard", "queue", "results", "to", "language"],
    examples: [
      "pai eval import thesis tasks",
      "pai eval run tasks --mode single-shot,tool-loop --repeat 3",
      "pai eval run tasks --model oracle,nop",
      "pai eval report eval-results.jsonl -o report.html",
      "pai eval run tasks --queue night && pai eval worker tasks --queue night",
    ],
    load: async () => (await loadLab()).eval,
  }),
  more({
    name: "stats",
    about: "sum up all runs: solved, promises kept, tokens, cost",
    flags: ["by", "since", "team", "csv"],
    examples: ["pai stats", "pai stats --by model --since 7d", "pai stats --team --by user"],
    load: async () => (await loadLab()).stats,
  }),
  more({
    name: "dashboard",
    about: "show all runs as a page: in a file, or served on this machine",
    flags: ["out", "port", "team"],
    examples: ["pai dashboard --out report.html", "pai dashboard", "pai dashboard --team"],
    load: async () => (await loadLab()).dashboard,
  }),
  more({
    name: "review",
    about: "findings about a diff or files; changes nothing",
    usage: "[FILES…]",
    flags: ["base", "failOn", ...calling],
    examples: ["pai review", "pai review --base main --fail-on high", "pai review --json src/cart.py"],
    load: async () => (await import("./commands/review.ts")).reviewCommand,
  }),
  defineSession({
    group: "programs",
    name: "acp",
    about: "serve editors: the Agent Client Protocol on stdin and stdout",
    flags: [...asking, ...acting],
    examples: ["pai acp", "pai acp --model anthropic:claude-sonnet-5-5 --check 'npm test'"],
    load: async () => (await import("./serve/editor-host.ts")).acpCommand,
  }),
  define({
    group: "programs",
    name: "mcp",
    about: "serve tools to other agents (MCP); list, trust or revoke theirs",
    usage: "[list|trust|revoke] [NAME]",
    flags: [...asking, ...acting],
    examples: ["pai mcp", "pai mcp trust everything", "pai mcp --yes --check 'npm test' --only 'src/**'"],
    load: async () => (await import("./commands/mcp.ts")).mcpCommand,
  }),
  define({
    group: "programs",
    name: "schema",
    about: "print JSON Schemas: of --json, --jsonl, settings, plan in plan files",
    usage: "plan|json|jsonl|config|review",
    flags: [],
    examples: ["pai schema json", "pai schema config"],
    load: async () => (await loadSmall()).schema,
  }),
  define({
    group: "programs",
    name: "completion",
    about: "print the completion script of a shell",
    usage: "bash|zsh|fish",
    flags: [],
    examples: ["source <(pai completion bash)", "pai completion fish > ~/.config/fish/completions/pai.fish"],
    load: async () => (await loadSmall()).completion(commands, session),
  }),
  define({
    group: "programs",
    name: "uninstall",
    about: "remove pai from this machine; lists first and asks",
    flags: ["purge", "dryRun", "yes", "noInput"],
    examples: ["pai uninstall --dry-run", "pai uninstall --purge"],
    load: async () => (await loadSmall()).uninstall,
  }),
  define({
    name: "help",
    about: "show help, of pai or of one command",
    usage: "[COMMAND]",
    flags: [],
    examples: ["pai help run"],
    load: async () => helpCommand(commands),
  }),
];

export const findCommand = (name: string): Command | undefined => commands.find((command) => command.name === name);
