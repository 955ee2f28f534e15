/** The actions of the model: which it has, what came of them, and what it got beyond its plan. */

import { flagToRun } from "../core/command/run-patterns.ts";
import type { ErrorCode } from "../core/error.ts";
import type { ActionCounts, Amendment, RefusedAction } from "../core/outcome.ts";
import type { RelPath } from "../core/path.ts";
import type { AnyAction } from "../core/ports.ts";
import { rowOf } from "../core/vocabulary.ts";
import type { ChangeOptions } from "./changes/changing.ts";

export interface ActionOptions {
  readonly maxActions: number;
}

export interface Acting extends ActionOptions {
  readonly actions: readonly AnyAction[];
  readonly tally: Tally;
  readonly made: Made[];
  amended: readonly Amendment[];
}

export interface Made {
  readonly name: string;
  readonly paths: readonly RelPath[];
}

export function createActing({ maxActions }: ActionOptions, actions: readonly AnyAction[]): Acting {
  return { maxActions, actions, tally: createTally(), made: [], amended: [] };
}

/** Codes of actions that a rule or a person forbade; every other code is a failure. */
const refusalCodes: ReadonlySet<ErrorCode> = new Set([
  "path_refused",
  "scope_refused",
  "declined",
  "command_refused",
  "delete_refused",
  "secret_refused",
  "guard_refused",
]);

export const isRefusal = ({ code }: { readonly code: ErrorCode }): boolean => refusalCodes.has(code);

/** Of these the codes of what a flag or another plan would have allowed. */
const allowable = refusalCodes.difference(new Set<ErrorCode>(["declined", "guard_refused"]));

interface ActionEnd {
  readonly kind: AnyAction["kind"];
  readonly name: string;
  readonly target: string;
  readonly paths: readonly RelPath[];
  readonly text: string;
  readonly ok?: boolean;
  /** null: done, or a command that ran: not `ok`, it ended badly. */
  readonly code: ErrorCode | null;
}

type Noted = Pick<ActionEnd, "name" | "target" | "paths" | "text"> & { readonly code: ErrorCode };

export type Tally = ReturnType<typeof createTally>;

export const endedBefore = "the run ended before it";

const firstLine = (text: string) => text.split("\n", 1)[0] ?? "";

function createTally() {
  const counts = { done: 0, failed: 0, refused: 0 };
  const withheld = new Set<string>();
  let looks = 0;
  let open: readonly Noted[] = [];

  const isSame = (a: Noted, b: ActionEnd) => a.name === b.name && a.target === b.target;
  const repair = (end: ActionEnd) => {
    const done = new Set(end.paths);
    const right = rowOf(end.name)?.right;
    // Of what a person did not want only the same kind of work is what they want instead; a mode brings no content.
    const isInstead = (each: Noted) =>
      rowOf(each.name)?.right === right || (each.code !== "declined" && right !== "setting");
    open = open.filter(
      (each) =>
        !isSame(each, end) &&
        (each.paths.length === 0 || !isInstead(each) || !each.paths.every((path) => done.has(path))),
    );
  };

  /** Counts one action. A successful change makes up for every earlier failure of the same paths. */
  const note = (end: ActionEnd): void => {
    const { kind, code, name, target, text, paths, ok = true } = end;
    if (kind === "look") looks += 1;
    else if (code === null) {
      counts[ok ? "done" : "failed"] += 1;
      repair(end);
    } else {
      counts[refusalCodes.has(code) ? "refused" : "failed"] += 1;
      open = [...open.filter((each) => !isSame(each, end)), { name, target, text, paths, code }];
    }
  };

  return {
    note,
    get actions(): ActionCounts {
      return { ...counts };
    },
    get looks() {
      return looks;
    },
    /** Refused and failed actions that no later one made up for, in their order. */
    get refused(): readonly RefusedAction[] {
      return open.map(({ name, target, text }) => ({ action: name, target, why: firstLine(text) }));
    },
    /** The last refused action that a flag or another plan would have allowed; null: none. */
    get forbidden(): Noted | null {
      return open.findLast(({ code }) => allowable.has(code)) ?? null;
    },
    withheld: withheld as ReadonlySet<string>,
    withhold(command: string, why: string): void {
      if (withheld.has(command)) return;
      withheld.add(command);
      note({ kind: "command", name: "RUN", target: command, text: why, paths: [], code: "command_refused" });
    },
  };
}

export function hintFor({ code, name, target, text }: Noted, { only, strict }: ChangeOptions): string {
  const flags = text.match(/--allow (?:'(?:[^']|'\\'')*'|\S+)/g);
  if (flags !== null) return `allow it by naming it: ${flags.join(" ")}`;
  if (code === "delete_refused") return `allow the deletion of ${target} with --allow-delete`;
  if (code === "command_refused") return `allow the command with ${flagToRun(target)}`;
  if (rowOf(name)?.kind === "command")
    return `name the command in the task, so that the plan lists it, and add ${flagToRun(target)}`;
  const narrowed = only.length > 0 ? `, and let it through with --only ${target}` : "";
  if (code === "path_refused") return "no flag allows it: name another path in the task";
  const lenient = strict ? ", or leave out --strict" : "";
  return `name ${target} in the task, so that the plan lists it${narrowed}${lenient}`;
}
