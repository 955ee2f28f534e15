/** Goes on with a session: its next task knows what was said, what became of it, and what has happened since. */
import { createDialogue, type Dialogue } from "../../core/dialogue.ts";
import type { StampedEvent } from "../../core/event.ts";
import { listHappenings, pastOf } from "../../core/session/past.ts";
import type { Task } from "../../flows/run.ts";
import { type OpenSession, openSessions } from "../../store/sessions.ts";
import type { Context } from "../command.ts";
import type { Composed } from "../compose/compose-task.ts";
import { type TruthWatch, watchTruth } from "./watch-truth.ts";

/** A task with what the session knows: what was said, what became of it, and what has happened since. */
export async function continueWith(
  task: Pick<Task, "text" | "context" | "files">,
  { open, truth, dialogue }: { readonly open: OpenSession; readonly truth: TruthWatch; readonly dialogue: Dialogue },
): Promise<Task> {
  const since = await truth.catchUp(open);
  const { session } = open;
  const { conversation } = session;
  const parts = [
    since.length === 0 ? "" : `What has happened that you were not told yet:\n${listHappenings(since)}`,
    task.context ?? "",
  ].filter(Boolean);
  const context = parts.length === 0 ? null : parts.join("\n\n");
  return { ...task, history: pastOf(session), context, conversation, dialogue };
}

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
  { opened }: Composed,
  { id, task, warn }: { readonly id: string | null; readonly task: Task; readonly warn: (text: string) => void },
) {
  const sessions = openSessions(opened.stateFolder, opened.workspace.root);
  const open = sessions.open(sessions.load(id).session, now, warn);
  const truth = watchTruth(opened, now);
  return {
    task: await continueWith(task, { open, truth, dialogue: createDialogue() }),
    sink: (event: StampedEvent) => truth.sink(open, event),
    close: () => truth.saved().then(open.close),
  };
}
