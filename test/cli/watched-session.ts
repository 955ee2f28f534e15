/** A session on a folder of its own, whose turns are carried out as they are planned, and what its next request is told. */
import { expect } from "bun:test";
import { join } from "node:path";
import { continueWith, watchTruth } from "../../src/cli/session/watch-truth.ts";
import { createDialogue } from "../../src/core/dialogue.ts";
import { pastOf } from "../../src/core/session/past.ts";
import { openSessions } from "../../src/store/sessions.ts";
import { finish, plan } from "../flows/plans.ts";
import { makeFolder, openHere, playIn, type Setup } from "../flows/scripted.ts";

/** How a turn goes. `code`: its exit code. */
interface Way extends Partial<Pick<Setup, "answers" | "mentioned" | "onQuestion" | "options">> {
  readonly isKilled?: boolean;
  /** Another process plays it in the same session, and this one looks before it ends. */
  readonly isBeside?: boolean;
  readonly code?: number;
}

/** A session on a folder of its own; its turns are carried out as they are planned. `isKept` false: no run is. */
export async function openSession(isKept = true) {
  const place = makeFolder({ "b.txt": "b\n", "other.txt": "other\n" });
  const { workspace, history: kept } = await openHere(place);
  const history = isKept ? kept : { ...kept, list: () => [] };
  const now = () => new Date();
  const sessions = openSessions(join(place.state, "sessions"), place.root);
  const warn = (text: string): void => expect(text).toBe("");
  let [open, truth] = [sessions.open(null, now, warn), watchTruth({ workspace, history, now })];
  let count = 0;
  return {
    history,
    at: (path: string) => join(place.root, path),
    async play(
      steps: readonly string[],
      script: string,
      { answers = "yes", mentioned = [], onQuestion, options, isKilled = false, isBeside = false, code = 0 }: Way = {},
    ) {
      await truth.catchUp(open);
      const lines = [plan({ steps }), script + finish()];
      const id = `r${++count}`;
      const how = { onQuestion: onQuestion ?? (() => {}), options: { interactive: true, ...options } };
      const ran = await playIn(place, { lines, now, id, answers, mentioned, ...how });
      expect(ran.outcome.code).toBe(code);
      const there = isBeside ? sessions.open(sessions.load(null).session, now, warn) : open;
      const watch = isBeside ? watchTruth({ workspace, history, now }) : truth;
      for (const event of ran.events.slice(0, -1)) watch.sink(there, event);
      if (isBeside) await truth.catchUp(open);
      for (const event of isKilled ? [] : ran.events.slice(-1)) watch.sink(there, event);
    },
    told: () => truth.catchUp(open),
    context: async () =>
      (await continueWith({ text: "and now?", context: null }, { open, truth, dialogue: createDialogue() })).context,
    past: () => pastOf(open.session),
    rewind(turns: number) {
      const gone = open.session.turns.slice(turns);
      open.add({ type: "session.rewound", at: now().toISOString(), turns });
      truth.follow(open.session, gone);
    },
    resume() {
      open.close();
      open = sessions.open(sessions.load(null).session, now, warn);
      truth = watchTruth({ workspace, history, now });
      truth.follow(open.session);
    },
  };
}

export type Watched = Awaited<ReturnType<typeof openSession>>;
