/** A session on a folder of its own, whose turns are carried out as they are planned, and what its next request is told. */
import { expect } from "bun:test";
import { join } from "node:path";
import { continueWith } from "../../src/cli/session/continue-session.ts";
import { watchTruth } from "../../src/cli/session/watch-truth.ts";
import { createDialogue } from "../../src/core/dialogue.ts";
import type { SessionLine } from "../../src/core/session/line.ts";
import { pastOf } from "../../src/core/session/past.ts";
import { openSessions } from "../../src/store/sessions.ts";
import type { KeptRun } from "../../src/workspace/journal/run-history.ts";
import { finish, plan } from "../flows/plans.ts";
import { makeFolder, openHere, playIn, type Setup } from "../flows/scripted.ts";

/** How a turn goes. `code`: its exit code. */
interface Way extends Partial<Pick<Setup, "answers" | "mentioned" | "onQuestion" | "options">> {
  readonly isKilled?: boolean;
  /** Another process plays it in the same session, and this one looks before it ends. */
  readonly isBeside?: boolean;
  readonly code?: number;
  /** Runs while the reply with the work is awaited. */
  readonly before?: () => void;
}

/** A session on a folder of its own; its turns are carried out as they are planned. `isKept` false: no run is. */
export async function openSession(isKept = true) {
  const place = makeFolder({ "b.txt": "b\n", "other.txt": "other\n" });
  const { workspace, history: kept } = await openHere(place);
  /** What is said of its runs; null: the truth. */
  let status: KeptRun["status"] | null = null;
  const list = () => kept.list().map((run) => (status === null ? run : { ...run, status }));
  const history = { ...kept, list: isKept ? list : () => [] };
  const now = () => new Date();
  const sessions = openSessions(place.state, place.root);
  const warn = (text: string): void => expect(text).toBe("");
  let [open, truth] = [sessions.open(null, now, warn), watchTruth({ workspace, history }, now)];
  let count = 0;
  return {
    history,
    at: (path: string) => join(place.root, path),
    async play(
      steps: readonly string[],
      script: string,
      {
        answers = "yes",
        mentioned = [],
        onQuestion,
        options,
        isKilled = false,
        isBeside = false,
        code = 0,
        before = () => {},
      }: Way = {},
    ) {
      await truth.catchUp(open);
      const lines = [plan({ steps }), { text: script + finish(), before }];
      const id = `r${++count}`;
      const how = { onQuestion: onQuestion ?? (() => {}), options: { interactive: true, ...options } };
      const ran = await playIn(place, { lines, now, id, answers, mentioned, ...how });
      expect(ran.outcome.code).toBe(code);
      const there = isBeside ? sessions.open(sessions.load(null).session, now, warn) : open;
      const watch = isBeside ? watchTruth({ workspace, history }, now) : truth;
      for (const event of ran.events.slice(0, -1)) watch.sink(there, event);
      if (isBeside) await truth.catchUp(open);
      for (const event of isKilled ? [] : ran.events.slice(-1)) watch.sink(there, event);
      await watch.saved();
    },
    told: () => truth.catchUp(open),
    context: async () =>
      (await continueWith({ text: "and now?", context: null }, { open, truth, dialogue: createDialogue() })).context,
    past: () => pastOf(open.session),
    rewind(turns: number) {
      open.add({ type: "session.rewound", at: now().toISOString(), turns });
      return truth.lookAnew(open);
    },
    pretend(said: KeptRun["status"]) {
      status = said;
    },
    add: (line: SessionLine) => open.add(line),
    workspace,
    async resume() {
      await truth.saved();
      open.close();
      open = sessions.open(sessions.load(null).session, now, warn);
      truth = watchTruth({ workspace, history }, now);
    },
  };
}
