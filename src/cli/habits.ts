/** Words and flags of other agents, and what to type in pai instead. */

/** By the word in a command's place; none of these is a command of pai. */
const commands: Readonly<Record<string, string>> = {
  login: "store a key: pai key set",
  auth: "store a key: pai key set",
  init: "nothing to set up; AGENTS.md in a project is sent to the model",
  update: "pai never updates itself: replace the file by that of the new release (docs/install.md)",
  version: "pai --version",
  status: "what was done: pai history; this installation: pai doctor",
  diff: "changes of the last run: pai undo --dry-run; in a session: /diff",
  commit: "a run commits its own work: pai run --commit; what a run changed: pai undo --dry-run",
  cost: "pai stats",
  session: "pai, or pai resume",
  sessions: "pai resume --list",
  auto: "pai",
  rewind: "pai undo; in a session: /rewind",
};

const flags: Readonly<Record<string, string>> = {
  "-p": 'a task runs once and ends by itself: pai "TASK"',
  "-c": "continue the last session: pai resume",
  "--resume": "continue a session: pai resume [ID]",
  "--yolo": "pai run -y --allow-run --allow-delete",
  "--full-auto": "pai run -y --allow-run",
  "--dangerously-skip-permissions": "pai run -y --allow-run --allow-delete; what the policy refuses stays refused",
  "--permission-mode": "plans are asked about; -y answers yes, --mode plan is: pai plan",
  "--debug": "-v",
  "--allow-secret": "--allow PATH",
  "--output-format": "--json for one document, --jsonl for events",
  "--reasoning-effort": "--effort LEVEL",
  "--max-turns": "--max-calls N",
  "--max-budget-usd": "--max-cost USD",
  "--allowedTools": "--allow-run=PATTERN permits commands, --only GLOB limits the files",
  "--json-schema": "--output-schema FILE",
  "--system-prompt": "write instructions for the model into AGENTS.md",
  "--add-dir": "one folder a run: -C DIR",
  "--api-key": "set GEMINI_API_KEY or another variable, or: pai key set",
  "--config": "settings: pai config get; another folder: XDG_CONFIG_HOME",
  "--auto-commits": "--commit, after a run that a check has verified",
  "--test-cmd": "--check CMD",
};

const find = (table: Readonly<Record<string, string>>, name: string): string | null =>
  Object.hasOwn(table, name) ? (table[name] ?? null) : null;

const slashes: Readonly<Record<string, string>> = {
  history: "here: /diff, /undo, /rewind; in a shell: pai history",
  models: "here: /model; in a shell: pai models",
  doctor: "in a shell: pai doctor",
  key: "in a shell: pai key",
  login: "in a shell: pai key set",
  status: "here: /cost, /diff, /config",
};

export const habitInSession = (word: string): string | null =>
  find(slashes, word.toLowerCase()) ?? habitOfCommand(word);

export const habitOfCommand = (word: string): string | null => find(commands, word.toLowerCase());

export const habitOfFlag = (flag: string): string | null => find(flags, flag);
