/** The pause before a provider is asked again, as a person and as a program see it (R09, R36). */
import { expect, test } from "bun:test";
import { expectPrompt } from "../../core/cpu-time.ts";
import { readEvents } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { talked } from "../replies.ts";
import { inTerminal, openRaw, openScreen } from "../screen.ts";

const busy = (seconds: number) => ({ status: 429, headers: { "retry-after": `${seconds}` }, body: "slow down" });
const counting =
  /waiting (\d+) s, then asking again \(1 of 5\) · (?:Esc|Ctrl\+C) stops[\s\S]{1,30}the key in GEMINI_API_KEY is over its limit/;

inTerminal("a terminal that wraps the line of a wait anew keeps no piece of it (R10)", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using place = openPlace([{ ...talked("Here I am."), meanwhile: () => promise }]);
  using screen = openScreen(place, { columns: 110, rows: 24 });
  // From the top row of an empty screen tmux moves a line into its history, where nothing can be taken away.
  screen.enter('seq 30; "$PAI" run "are you there?"; echo "ended with $?"');
  const line = /^. working, /gm;
  for (const columns of [110, 30, 21, 100]) {
    screen.resize({ columns, rows: 24 });
    await Bun.sleep(300);
    await screen.shows(line);
    expect(screen.text().match(line)).toHaveLength(1);
  }
  resolve();
  await screen.shows(/ended with 0/);
  expect(screen.text()).not.toContain("working");
});

test.concurrent("--jsonl tells the pause in numbers too", async () => {
  await using place = openPlace([busy(1), talked("Here I am.")]);
  const events = readEvents(await place.pai(["run", "--jsonl", "are you there?"]));
  const why = "the key in GEMINI_API_KEY is over its limit at gemini: slow down";
  const told = { text: `${why}; asking again in 1 s (1 of 5)`, wait: { why, seconds: 1, attempt: 1, of: 5 } };
  expect(events.filter((event) => event.type === "notice" && event.code === "waiting")).toMatchObject([told]);
});

test.concurrent("Ctrl+C in the pause acts at once: the answer is there within 100 ms (R09)", async () => {
  await expectPrompt(100, async () => {
    await using place = openPlace([busy(40)]);
    const raw = openRaw(place, ["run", "are you there?"]);
    const pressed = await raw.sees(counting);
    raw.type("\x03");
    const answered = await raw.sees("interrupted");
    expect(await raw.exited).toBe(130);
    expect(place.gemini.requests).toHaveLength(1);
    return answered - pressed;
  });
});
