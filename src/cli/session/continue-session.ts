/** Goes on with a session by one task of a command: it is told what became of each turn, and becomes the next one. */
import { createDialogue } from "../../core/dialogue.ts";
import type { StampedEvent } from "../../core/event.ts";
import type { Task } from "../../flows/run.ts";
import { openSessions } from "../../store/sessions.ts";
import type { Context } from "../command.ts";
import type { Composed } from "../compose/compose-task.ts";
import { continueWith, watchTruth } from "./watch-truth.ts";

/** The id of --continue; null: the last session; undefined: not asked for. */
export function continuedId({ flags }: Pick<Context, "flags">): string | null | undefined {
  if (flags.continue === undefined) return undefined;
  return typeof flags.continue === "object" ? (flags.continue.at(-1) ?? null) : null;
}

const idShape = /^\d{8}(?:-[\da-f-]*)?$/;

/** The words without an id before the task, which goes to the flag: `--continue ID "TASK"`. */
export function takeId(context: Context): Context {
  const [first = "", ...rest] = context.words;
  if (context.flags.continue !== true || rest.length === 0 || !idShape.test(first)) return context;
  return { ...context, words: rest, flags: { ...context.flags, continue: [first] } };
}

/** Throws usage where no session is kept, or none has this id. */
export async function continueSession(
  { now }: Pick<Context, "now">,
  { opened: { workspace, history, stateFolder } }: Composed,
  { id, task, warn }: { readonly id: string | null; readonly task: Task; readonly warn: (text: string) => void },
) {
  const sessions = openSessions(stateFolder, workspace.root);
  const open = sessions.open(sessions.load(id).session, now, warn);
  const truth = watchTruth({ workspace, history, now });
  return {
    task: await continueWith(task, { open, truth, dialogue: createDialogue() }),
    sink: (event: StampedEvent) => truth.sink(open, event),
    close: () => truth.saved().then(open.close),
  };
}
