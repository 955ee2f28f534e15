/** The table of all actions: parser, plan, scope, evidence, tools, prompts and terminal read its rows. */

const look = {
  kind: "look",
  right: null,
  aliases: [],
  offered: true,
  script: null,
  shows: false,
  unsafeWhenCut: false,
} as const;
const change = { ...look, kind: "change" } as const;
/** A tool of a connected server: models see it only when a server is connected. */
const served = { form: "command", offered: false, plan: "" } as const;
/** A script line that has no tool. */
const mark = { ...look, tool: null, offered: false, about: "" } as const;
const command = { ...look, kind: "command", right: "command", unsafeWhenCut: true } as const;

/** A new action is one row here and one `propose` in actions/. Models see them in this order. */
export const vocabulary = [
  {
    ...look,
    name: "READ",
    form: "lines",
    tool: "read",
    about: "Shows a text file with line numbers, whole or from start_line to end_line.",
    plan: "READ path",
    script: "READ::path",
    shows: true,
  },
  {
    ...look,
    name: "SEARCH",
    aliases: ["GREP"],
    form: "pattern",
    tool: "grep",
    about: "Finds lines by a regular expression; a JSON string is searched as it is.",
    plan: "SEARCH regex (destination: folder)",
  },
  {
    ...look,
    name: "GLOB",
    form: "pattern",
    tool: "glob",
    about: "Finds files by a pattern with **, * and {a,b}.",
    plan: "GLOB pattern",
  },
  {
    ...look,
    name: "TREE",
    form: "folder",
    tool: "tree",
    about: "Draws the folder tree.",
    plan: "TREE path",
  },
  {
    ...look,
    name: "LIST_PATH",
    aliases: ["LIST", "LIST_FILES", "LIST_DIR", "LIST_DIRECTORY"],
    form: "folder",
    tool: "list_path",
    offered: false,
    about: "Lists everything below a folder, one path a line; folders end in /.",
    plan: "LIST_PATH path",
  },
  {
    ...look,
    name: "LS",
    form: "folder",
    tool: "ls",
    about: "Lists one folder: names, sizes; folders end in /.",
    plan: null,
  },
  {
    ...look,
    name: "MAP_ROOT",
    form: "folder",
    tool: "map_root",
    about: "Tells what the project is built with and how it is laid out.",
    plan: "MAP_ROOT path (stack, layout)",
  },
  {
    ...look,
    name: "SNIFF_LOGS",
    form: "word",
    tool: "sniff_logs",
    about: "Finds the newest lines of logs, by default those with error; path names one file or folder.",
    plan: "SNIFF_LOGS word",
  },
  {
    ...look,
    name: "DIAGNOSE",
    form: "word",
    tool: "diagnose",
    about:
      "Looks at this machine: processes, ports, disk, memory, units, mounts or users, with a name, number or path to narrow it.",
    plan: "DIAGNOSE processes|ports|disk|memory|units|mounts|users [name, number or path] (the machine itself)",
  },
  {
    ...change,
    name: "WRITE",
    aliases: ["CREATE"],
    right: "content",
    form: "content",
    tool: "write",
    about: "Writes a whole file: a new one, or one whose content was shown.",
    plan: "WRITE path (new file)",
    shows: true,
  },
  {
    ...change,
    name: "MODIFY",
    aliases: ["EDIT", "UPDATE", "REPLACE"],
    right: "content",
    form: "edits",
    tool: "edit",
    about: "Replaces old_str in a file by new_str; old_str must occur in it once, or all is true.",
    plan: "MODIFY path (existing file)",
    shows: true,
  },
  {
    ...change,
    name: "MKDIR",
    aliases: ["CREATE_DIR", "CREATE_DIRECTORY", "CREATE_FOLDER", "MAKE_DIR", "MAKE_DIRECTORY"],
    right: "folder",
    form: "path",
    tool: "mkdir",
    about: "Makes a folder and its parents.",
    plan: "MKDIR path",
    script: "MKDIR::path",
  },
  {
    ...change,
    name: "TOUCH",
    right: "content",
    form: "path",
    tool: "touch",
    offered: false,
    about: "Makes an empty file; an existing one is left as it is.",
    plan: "TOUCH path",
    script: "TOUCH::path",
  },
  {
    ...change,
    name: "RM",
    aliases: ["DELETE", "REMOVE"],
    right: "delete",
    form: "path",
    tool: "rm",
    about: "Deletes a file, a link, or a folder with all it holds.",
    plan: "RM path",
    script: "RM::path",
    unsafeWhenCut: true,
  },
  {
    ...change,
    name: "MV",
    aliases: ["MOVE", "RENAME"],
    right: "move",
    form: "pair",
    tool: "mv",
    about: "Moves or renames a file or folder; never over something that exists.",
    plan: "MV path (destination: new path; when its text changes too, add MODIFY of the new path)",
    script: "MV::from::to",
    shows: true,
    unsafeWhenCut: true,
  },
  {
    ...change,
    name: "COPY",
    aliases: ["CP", "DUPLICATE"],
    right: "content",
    form: "pair",
    tool: "copy",
    about: "Copies a file or folder; never over something that exists.",
    plan: "COPY path (destination, as for MV)",
    script: "COPY::from::to",
    shows: true,
  },
  {
    ...change,
    name: "LINK",
    aliases: ["SYMLINK", "LN"],
    right: "setting",
    form: "setting",
    tool: "link",
    about: "Makes a link to an existing file or folder of the project; target is relative to the link.",
    plan: "LINK path (destination: what it leads to, relative to it)",
    script: "LINK::path::target",
  },
  {
    ...change,
    name: "MODE",
    aliases: ["CHMOD"],
    right: "setting",
    form: "setting",
    tool: "mode",
    about: "Sets the permissions of a file: three octal digits.",
    plan: "MODE path (destination: 755)",
    script: "MODE::path::755",
  },
  {
    ...command,
    name: "RUN",
    aliases: ["RUN_COMMAND", "EXECUTE", "RUN_SHELL", "SHELL", "BASH"],
    form: "command",
    tool: "bash",
    about: "Runs a shell command in the project root.",
    plan: "RUN command",
    script: "RUN::command",
  },
  {
    ...command,
    name: "PROFILE",
    form: "path",
    tool: "profile",
    about: "Runs a Python script under the profiler and shows where the time goes.",
    plan: "PROFILE script.py",
  },
  {
    ...look,
    ...served,
    name: "QUERY",
    tool: "query_tool",
    about: "Asks a tool of a connected server, `server.tool`, that only looks; the request says which there are.",
  },
  {
    ...command,
    ...served,
    name: "CALL",
    tool: "call_tool",
    about: "Calls a tool of a connected server, `server.tool`; the request says which there are.",
  },
  { ...mark, name: "FINISH", kind: "finish", form: "message", plan: "" },
  { ...mark, name: "AMEND", kind: "amend", form: "amendment", plan: null },
  { ...mark, name: "SKIP", kind: "skip", form: "withdrawal", plan: null },
  { ...mark, name: "CHECK", kind: "check", form: "command", plan: null },
] as const satisfies readonly Row[];

type AnyRow = (typeof vocabulary)[number];

type ActionRow = Extract<AnyRow, { readonly kind: "look" | "change" | "command" }>;

/** Actions that are performed: all but FINISH, AMEND, SKIP and CHECK. */
export type ActionName = ActionRow["name"];

export type PlanAction = Exclude<AnyRow, { readonly plan: null }>["name"];

const isAction = (row: AnyRow): row is ActionRow =>
  row.kind === "look" || row.kind === "change" || row.kind === "command";
export const actionRows: readonly ActionRow[] = vocabulary.filter(isAction);
const byName: ReadonlyMap<string, AnyRow> = new Map(vocabulary.map((row) => [row.name, row]));
const ownNames: ReadonlyMap<string, string> = new Map(
  vocabulary.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, name] as const)),
);

export const rowOf = (name: string): Row | null => byName.get(name) ?? null;

export const isLook = (name: string): boolean => rowOf(name)?.kind === "look";

export function actionRow(name: ActionName): ActionRow {
  const row = byName.get(name);
  if (row === undefined || !isAction(row)) throw new Error(`no row for ${name}`);
  return row;
}

/** The name of the action that a model calls `name`; an unknown name is returned as it is. */
export const ownName = (name: string): string => ownNames.get(name) ?? name;

export const isPlanned = (row: AnyRow): row is Exclude<AnyRow, { readonly plan: null }> => row.plan !== null;

/** Whether the action's target is a path; otherwise it is a pattern, a command, or nothing. */
export function namesPath(name: string): boolean {
  const form = rowOf(name)?.form ?? "nothing";
  return !["pattern", "word", "command", "nothing", "message", "amendment", "withdrawal"].includes(form);
}

/** Whether the action needs a target; the others have a default. */
export function needsTarget(name: string): boolean {
  const form = rowOf(name)?.form ?? "nothing";
  return !["folder", "word", "nothing", "message"].includes(form);
}

export type Right = "content" | "delete" | "move" | "folder" | "setting" | "command";

/**
 * What follows `NAME::` in a script. `folder`: by default the root. `lines`: a path with a range. `setting`: a path and
 * a value. `word` may be missing. `content`, `edits`: a path with a body. `amendment`: an action. `withdrawal`: a step.
 */
export type Form =
  | "path"
  | "folder"
  | "lines"
  | "pair"
  | "setting"
  | "pattern"
  | "word"
  | "command"
  | "nothing"
  | "content"
  | "edits"
  | "message"
  | "amendment"
  | "withdrawal";

export interface Row {
  readonly name: string;
  /** Other names that models give it in plans and scripts. */
  readonly aliases: readonly string[];
  readonly kind: "look" | "change" | "command" | "finish" | "amend" | "skip" | "check";
  readonly right: Right | null;
  readonly form: Form;
  /** Its name among the tools of the tool-loop; null: it has none. */
  readonly tool: string | null;
  /** False: models are not offered the tool, since another does the same; a call of it still works. */
  readonly offered: boolean;
  readonly about: string;
  /** How the plan prompt lists it; null: plans do not hold it. */
  readonly plan: string | null;
  /** How the script prompt lists it; null: it is not listed, or the prompt shows it with its body. */
  readonly script: string | null;
  /** The execution call shows the file it names, whole, before it can be done. */
  readonly shows: boolean;
  /** Skipped when the reply was cut: the missing part might have reversed it. */
  readonly unsafeWhenCut: boolean;
}
