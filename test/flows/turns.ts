/** Several turns of one session on a folder, to read what the request of each later turn is told of those before. */
import { createDialogue } from "../../src/core/dialogue.ts";
import { pastOf } from "../../src/core/session/past.ts";
import { type OpenSession, openSessions } from "../../src/store/sessions.ts";
import { talk } from "./plans.ts";
import { type Files, makeFolder, playIn, type Ran, type Setup } from "./scripted.ts";

/** A turn that only asks something, to see what its request is told. */
export const ask = { lines: [talk("So it is.")], options: { interactive: true }, answers: [] } as const;

/** One turn, and what its first request told of the turns before; "": nothing. */
export interface Turned extends Ran {
  readonly past: string;
}

export interface Turns {
  readonly root: string;
  readonly open: OpenSession;
  /** Plays one turn. */
  say(task: string, setup: Omit<Setup, "task" | "files">): Promise<Turned>;
  /** Leaves the session and goes on with it as another process does. */
  resume(): void;
}

const conversationIn = (asked: string): string =>
  /<conversation[^>]*>\n([\s\S]*?)<\/conversation>/.exec(asked)?.[1]?.trimEnd() ?? "";

/** Turns on a folder of their own. */
export function openTurns(files: Files = {}): Turns {
  const place = makeFolder(files);
  const sessions = openSessions(place.state, place.root);
  const now = () => new Date(0);
  const open = (from: Parameters<typeof sessions.open>[0]) =>
    sessions.open(from, now, (text) => {
      throw new Error(text);
    });
  let session = open(null);
  let dialogue = createDialogue();
  let count = 0;
  return {
    root: place.root,
    get open() {
      return session;
    },
    async say(task, setup) {
      count += 1;
      const ran = await playIn(place, {
        ...setup,
        task,
        id: `r${count}`,
        history: pastOf(session.session),
        conversation: session.session.conversation,
        dialogue,
      });
      for (const event of ran.events) session.sink(event);
      return { ...ran, past: conversationIn(ran.asked(1)) };
    },
    resume() {
      session.close();
      session = open(sessions.load(null).session);
      dialogue = createDialogue();
    },
  };
}
