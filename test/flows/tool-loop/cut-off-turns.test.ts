/** How a turn of the tool-loop ends when it is cut off: what stays on disk, and a conversation that can go on. */
import { expect, test } from "bun:test";
import { PaiError } from "../../../src/core/error.ts";
import { becameOf } from "../../../src/core/session/became.ts";
import type { Conversation } from "../../../src/core/session/conversation.ts";
import { openSessions } from "../../../src/store/sessions.ts";
import { call, calls, playLoop } from "../loop.ts";
import { capOf, type Line, type Ran, type Setup, scriptModel, stopper, usage } from "../scripted.ts";

const make = (name: string) => call("write", { path: name, content: "x" });
const inSession = { interactive: true, keep: true };
const run = (lines: readonly Line[], rest: Partial<Setup> = {}) =>
  playLoop(lines, { answers: "yes", ...rest, options: { ...inSession, ...rest.options } });

/** The conversation after the events of a run, as it is kept while it happens. */
function conversationAfter({ events }: Ran): Conversation {
  const open = openSessions(null, "").open(null, () => new Date(0), String);
  for (const event of events) open.sink(event);
  return open.session.conversation;
}

test("in a session an interrupt keeps finished batches; headless it takes everything back", async () => {
  for (const keep of [true, false]) {
    const { signal, stop: interrupt } = stopper();
    const lines: Line[] = [calls(make("a.txt")), { text: "never", before: interrupt }];
    const ran = await run(lines, { signal, options: { ...inSession, keep } });
    expect([keep, ran.outcome.status, Object.keys(ran.files)]).toEqual([keep, "interrupted", keep ? ["a.txt"] : []]);
    expect(ran.outcome.changes.length).toBe(keep ? 1 : 0);
  }
});

test("of the reply that was being carried out stays what was applied, and nothing of the command that was stopped", async () => {
  const { signal, stop: interrupt } = stopper();
  const onEvent: Setup["onEvent"] = ({ type }) => type === "command.output" && interrupt();
  const lines = [
    calls(make("done.txt")),
    calls(make("half.txt"), call("bash", { command: "echo made | tee made.txt; sleep 600" }), make("never.txt")),
  ];
  const ran = await run(lines, { signal, onEvent });
  expect([ran.outcome.status, ran.files]).toEqual(["interrupted", { "done.txt": "x", "half.txt": "x" }]);
  expect(ran.outcome.changes.map(({ path }) => path)).toEqual(["done.txt", "half.txt"]);
  expect(ran.outcome.refused.map(({ action, target }) => [action, target])).toEqual([["WRITE", "never.txt"]]);
});

test("each action that the end of the run left undone is named", async () => {
  const three = [
    call("edit", { path: "a.txt", old_str: "a", new_str: "A" }),
    call("mv", { from: "b.txt", to: "B.txt" }),
    call("rm", { path: "c.txt" }),
    call("bash", { command: "true" }),
  ];
  const files = { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" };
  const why = "the run ended before it";
  const { signal, stop: interrupt } = stopper();
  const stopped = await run([calls(...three)], { files, signal, onQuestion: interrupt });
  expect(stopped.outcome).toMatchObject({ status: "interrupted", changes: [], actions: { done: 0, failed: 4 } });
  expect(stopped.outcome.refused).toEqual([
    { action: "MODIFY", target: "a.txt", why },
    { action: "MV", target: "b.txt → B.txt", why },
    { action: "RM", target: "c.txt", why },
    { action: "RUN", target: "true", why },
  ]);
  expect(becameOf(stopped.outcome)).toContain(
    `not done: MODIFY a.txt (${why}), MV b.txt → B.txt (${why}), RM c.txt (${why}), RUN true (${why})`,
  );
});

test("at the cap a session keeps what is done, and 13 is the code all the same", async () => {
  const ran = await run([calls(make("a.txt"))], { options: capOf(1) });
  expect([ran.outcome.code, ran.files]).toEqual([13, { "a.txt": "x" }]);
});

test("what had been said before a reply broke off is kept", async () => {
  const { signal, stop: interrupt } = stopper();
  const long = "word ".repeat(400);
  const ran = await run([long], { signal, onDelta: interrupt });
  const last = conversationAfter(ran).messages.at(-1);
  expect(last?.role === "assistant" ? last.text.slice(0, 9) : "").toBe("word word");
});

test("a failed call of the model leaves a usable conversation, and its message is shown", async () => {
  const fail = new PaiError("key_rejected", "HTTP 401: the key was refused");
  const ran = await run([{ text: "", fail }]);
  expect(ran.outcome.error?.message).toBe("HTTP 401: the key was refused");
  const conversation = conversationAfter(ran);
  expect((await run(["Going on."], { conversation })).outcome.status).toBe("answered");
});

test("a reply that arrives as fast as it is read is interrupted at once, and nothing of it is shown after that", async () => {
  const { signal, stop: interrupt } = stopper();
  let [shown, read] = [0, 0];
  const ran = await run([], {
    signal,
    onDelta() {
      shown += signal.aborted ? 1 : 0;
    },
    model: {
      ...scriptModel([]),
      async *stream() {
        setTimeout(interrupt, 30);
        const end = performance.now() + 3000;
        for (let at = 0; performance.now() < end; at += 1) {
          const busy = performance.now() + 0.2;
          while (performance.now() < busy);
          read += signal.aborted ? 1 : 0;
          yield { type: "text", text: `word ${at} ` };
        }
        yield { type: "done", stop: "end", usage, served: "m", key: "k", native: null };
      },
    },
  });
  expect(ran.outcome.status).toBe("interrupted");
  expect(shown).toBe(0);
  expect(read).toBeLessThan(100);
});
