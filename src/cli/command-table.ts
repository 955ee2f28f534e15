/** The table of commands and what each takes. A command's code is loaded when it runs. */

import { type Command, type CommandRow, define as defineAny, word } from "./command.ts";
/*
 * To add a command: a row here (its words, its flags by `take`, examples for the help), and a file in commands/ whose
 * handler commands/small.ts names. Help, completions and the man page follow by themselves.
 */
import { helpCommand } from "./commands/help.ts";
import { take } from "./flags.ts";

const loadTask = () => import("./commands/task.ts");
const loadSessions = () => import("./commands/sessions.ts");
const loadSmall = async () => (await import("./commands/small.ts")).small;
const loadLab = async () => (await import("../lab/commands/lab.ts")).lab;

const everywhere = () => take("quiet", "verbose", "plain");
const asking = () =>
  take(
    "model",
    "effort",
    "mode",
    "cwd",
    "yes",
    "noInput",
    "maxCalls",
    "maxTokens",
    "maxCost",
    "timeout",
    "commandTimeout",
    "only",
    "ephemeral",
    "forceRoot",
  );
const tasking = () => take("file", "stdin", "noStdin", "show", "also");
const confining = () => take("sandbox", "checkSandbox", "allowNet", "allowWrite", "allowRead");
const acting = () => ({
  ...take(
    "check",
    "format",
    "noBaseline",
    "noWorse",
    "allowDelete",
    "allowRun",
    "commit",
    "allow",
    "strict",
    "planFirst",
    "env",
    "keep",
    "review",
  ),
  ...confining(),
});

const finishing = () => take("then", "thenUnverified", "thenAgain");

/** A command whose result can be printed as JSON. */
const define = (row: CommandRow): Command =>
  defineAny({ ...row, args: () => ({ ...row.args(), ...take("json"), ...everywhere() }) });
/** A conversation with a person, so there is no result to print as JSON. */
const defineSession = (row: CommandRow): Command =>
  defineAny({ ...row, args: () => ({ ...row.args(), ...everywhere() }) });

/** The interactive session: pai without a command. */
export const session: Command = defineSession({
  meta: { name: "session", description: "the interactive session" },
  args: () => ({ ...asking(), ...acting(), ...take("show", "also", "dryRun", "continue", "help", "version") }),
  examples: ["pai", "pai --continue", "pai --also /etc/ssl"],
  load: async () => (await loadSessions()).sessionCommand,
});

export const commands: readonly Command[] = [
  define({
    meta: { name: "run", description: "do one task, then exit" },
    args: () => ({
      task: word("TASK|-", false),
      ...asking(),
      ...tasking(),
      ...acting(),
      ...finishing(),
      ...take("outputSchema", "dryRun", "output", "saveChange", "jsonl", "continue"),
    }),
    examples: [
      'pai run -y "add a --version flag to cli.py"',
      'pai run -y --check "pytest -q" "fix the failing test"',
      "pai run --json - < task.txt",
    ],
    load: async () => (await loadTask()).runCommand,
  }),
  define({
    meta: { name: "ask", description: "look and answer, in any folder; changes nothing" },
    args: () => ({
      question: word("QUESTION|-", false),
      ...take("model", "effort", "cwd", "noInput", "maxCalls", "maxTokens", "maxCost", "timeout"),
      ...take("ephemeral", "file", "stdin", "noStdin", "show", "outputSchema", "jsonl"),
    }),
    examples: [
      'pai ask "which process listens on port 8080?"',
      'pai ask --show /var/log/nginx "what went wrong last night?"',
      'journalctl -u nginx | pai ask "why does it not start?"',
    ],
    load: async () => (await loadTask()).askCommand,
  }),
  define({
    meta: { name: "plan", description: "make the plan only; -o saves it for pai apply" },
    args: () => ({
      task: word("TASK|-", false),
      ...asking(),
      ...tasking(),
      ...take("output", "full", "check", "allowDelete", "allowRun", "dryRun", "jsonl"),
    }),
    examples: [
      'pai plan -o plan.json "split utils.py into modules"',
      'pai plan --full -o plan.json "rename the package"',
    ],
    load: async () => (await loadTask()).planCommand,
  }),
  define({
    meta: { name: "apply", description: "carry out a saved plan; its hash shows damage, not who made it" },
    args: () => ({
      plan: word("PLAN.json"),
      ...asking(),
      ...acting(),
      ...finishing(),
      ...take("also", "merge", "dryRun", "jsonl"),
    }),
    examples: ["pai apply -y plan.json"],
    load: async () => (await loadSmall()).apply,
  }),
  define({
    meta: { name: "undo", description: "take back the last run, or the one whose id begins with RUN" },
    args: () => ({ run: word("RUN", false), ...take("cwd", "yes", "merge", "dryRun", "noInput", "forceRoot") }),
    examples: ["pai undo", "pai undo --dry-run", "pai undo -y 20261121"],
    load: async () => (await loadSmall()).undo,
  }),
  define({
    meta: { name: "redo", description: "bring back what undo took back" },
    args: () => ({ run: word("RUN", false), ...take("cwd", "yes", "merge", "dryRun", "noInput", "forceRoot") }),
    examples: ["pai redo"],
    load: async () => (await loadSmall()).redo,
  }),
  define({
    meta: { name: "resume", description: "go on with a session of this folder: the last one, or the one named" },
    args: () => ({
      id: word("ID", false),
      ...asking(),
      ...tasking(),
      ...acting(),
      ...take("dryRun", "jsonl", "outputSchema", "continue", "list", "prune"),
    }),
    examples: ["pai resume", "pai resume 20261121", 'pai resume --continue "now the tests"', "pai resume --list"],
    load: async () => (await loadSessions()).resumeCommand,
  }),
  define({
    meta: { name: "history", description: "list the runs in this folder, or verify their receipts" },
    args: () => ({ run: word("--verify RUN", false), ...take("cwd", "all", "team", "verify", "prune", "forceRoot") }),
    examples: ["pai history", "pai history --all", "pai history --verify", "pai history --prune"],
    load: async () => (await loadSmall()).history,
  }),
  define({
    meta: { name: "config", description: "settings: get, set, unset, list" },
    args: () => ({ word: word("get|set|unset|list"), ...take("cwd") }),
    examples: ["pai config set limits.calls 6", "pai config get model", "pai config list"],
    load: async () => (await loadSmall()).config,
  }),
  define({
    meta: { name: "key", description: "keys: set, add, list, default, remove, check" },
    args: () => ({
      word: word("set|add|list|default|remove|check"),
      ...take("cwd", "provider", "online", "noInput", "yes"),
    }),
    examples: ["pai key set < key.txt", "pai key add work", "pai key list", "pai key check --online"],
    load: async () => (await loadSmall()).key,
  }),
  define({
    meta: { name: "models", description: "list providers, keys, known models and windows; or ask the servers" },
    args: () => ({ provider: word("PROVIDER", false), ...take("cwd", "online") }),
    examples: ["pai models", "pai models --online", "pai models --online openrouter"],
    load: async () => (await loadSmall()).models,
  }),
  define({
    meta: { name: "doctor", description: "check this installation, its settings and protections" },
    args: () => ({ ...take("cwd", "online", "offline", "model", "sandbox", "forceRoot") }),
    examples: ["pai doctor", "pai doctor --online", "pai doctor --json --offline"],
    load: async () => (await loadSmall()).doctor,
  }),
  define({
    meta: { name: "demo", description: "watch a whole task, offline, in a temporary folder" },
    args: () => ({ ...take("keep") }),
    examples: ["pai demo"],
    load: async () => (await loadSmall()).demo,
  }),
  define({
    group: "more",
    meta: { name: "context", description: "show the files of a task and what would be sent; sends nothing" },
    args: () => ({
      task: word("TASK|-", false),
      ...take("model", "mode", "cwd", "file", "stdin", "check", "allowRun", "maxCalls", "timeout", "forceRoot"),
    }),
    examples: ['pai context "fix the failing test"', 'pai context --json "split utils.py into modules"'],
    load: async () => (await loadSmall()).context,
  }),
  define({
    group: "more",
    meta: { name: "replay", description: "repeat the last run, or one, offline from its receipt" },
    args: () => ({ run: word("RUN", false), ...take("cwd", "forceRoot") }),
    examples: ["pai replay", "pai replay 20261121"],
    load: async () => (await loadSmall()).replay,
  }),
  define({
    group: "more",
    meta: { name: "trust", description: "allow this folder's pai.json, commands and skills" },
    args: () => ({ ...take("cwd", "revoke", "yes", "noInput", "forceRoot") }),
    examples: ["pai trust", "pai trust --revoke"],
    load: async () => (await loadSmall()).trust,
  }),
  define({
    group: "more",
    meta: { name: "memory", description: "facts that pai keeps of this project: list, accept, edit, add, drop" },
    args: () => ({
      verb: word("list|accept|edit|add|drop", false),
      what: word("ID|TEXT", false),
      ...take("cwd", "forceRoot"),
    }),
    examples: [
      "pai config set memory on",
      "pai memory",
      "pai memory accept all",
      'pai memory add "tests run with: make check"',
    ],
    load: async () => (await loadSmall()).memory,
  }),
  define({
    group: "more",
    meta: { name: "eval", description: "measure models and modes on tasks whose tests they do not see" },
    args: () => ({
      verb: word("run|worker|report|import"),
      what: word("TASKS…", false),
      ...take("model", "mode", "repeat", "jobs", "shard", "maxCost", "maxCalls", "maxTokens", "allowRun", "sandbox"),
      ...take("queue", "results", "output", "to", "language"),
    }),
    examples: [
      "pai eval import thesis tasks",
      "pai eval run tasks --mode single-shot,tool-loop --repeat 3",
      "pai eval run tasks --model oracle,nop",
      "pai eval report eval-results.jsonl -o report.html",
      "pai eval run tasks --queue night && pai eval worker tasks --queue night",
    ],
    load: async () => (await loadLab()).eval,
  }),
  define({
    group: "more",
    meta: { name: "stats", description: "sum up all runs: solved, promises kept, tokens, cost" },
    args: () => ({ ...take("by", "since", "team", "csv") }),
    examples: ["pai stats", "pai stats --by model --since 7d", "pai stats --team --by user"],
    load: async () => (await loadLab()).stats,
  }),
  define({
    group: "more",
    meta: { name: "dashboard", description: "show all runs as a page: in a file, or served on this machine" },
    args: () => ({ ...take("out", "port", "team") }),
    examples: ["pai dashboard --out report.html", "pai dashboard", "pai dashboard --team"],
    load: async () => (await loadLab()).dashboard,
  }),
  define({
    group: "more",
    meta: { name: "review", description: "findings about a diff or files; changes nothing" },
    args: () => ({
      file: word("FILES…", false),
      ...take(
        "base",
        "failOn",
        "model",
        "effort",
        "cwd",
        "noInput",
        "maxCalls",
        "maxTokens",
        "maxCost",
        "timeout",
        "ephemeral",
      ),
    }),
    examples: ["pai review", "pai review --base main --fail-on high", "pai review --json src/cart.py"],
    load: async () => (await import("./commands/review.ts")).reviewCommand,
  }),
  defineSession({
    group: "programs",
    meta: { name: "acp", description: "serve editors: the Agent Client Protocol on stdin and stdout" },
    args: () => ({ ...asking(), ...acting() }),
    examples: ["pai acp", "pai acp --model anthropic:claude-sonnet-5-5 --check 'npm test'"],
    load: async () => (await import("./commands/acp.ts")).acpCommand,
  }),
  define({
    group: "programs",
    meta: { name: "mcp", description: "serve tools to other agents (MCP); list, trust or revoke theirs" },
    args: () => ({
      word: word("list|trust|revoke", false),
      name: word("NAME", false),
      ...asking(),
      ...acting(),
    }),
    examples: ["pai mcp", "pai mcp trust everything", "pai mcp --yes --check 'npm test' --only 'src/**'"],
    load: async () => (await import("./commands/mcp.ts")).mcpCommand,
  }),
  define({
    group: "programs",
    meta: { name: "schema", description: "print JSON Schemas: of --json, --jsonl, settings, plan in plan files" },
    args: () => ({ word: word("plan|json|jsonl|config|review") }),
    examples: ["pai schema json", "pai schema config"],
    load: async () => (await loadSmall()).schema,
  }),
  define({
    group: "programs",
    meta: { name: "completion", description: "print the completion script of a shell" },
    args: () => ({ word: word("bash|zsh|fish") }),
    examples: ["source <(pai completion bash)", "pai completion fish > ~/.config/fish/completions/pai.fish"],
    load: async () => (await loadSmall()).completion(commands, session),
  }),
  define({
    group: "programs",
    meta: { name: "uninstall", description: "remove pai from this machine; lists first and asks" },
    args: () => ({ ...take("purge", "dryRun", "yes", "noInput") }),
    examples: ["pai uninstall --dry-run", "pai uninstall --purge"],
    load: async () => (await loadSmall()).uninstall,
  }),
  define({
    meta: { name: "help", description: "show help, of pai or of one command" },
    args: () => ({ command: word("COMMAND", false) }),
    examples: ["pai help run"],
    load: async () => helpCommand(commands),
  }),
];

export const findCommand = (name: string): Command | undefined => commands.find((command) => command.name === name);
