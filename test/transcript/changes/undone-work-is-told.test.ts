/** With the next message the model learns what the user took back in a session, since it would rely on it. */
import { expect } from "bun:test";
import { event, parts } from "../../models/gemini/gemini-wire.ts";
import { needs } from "../../needs.ts";
import { openPlace } from "../harness.ts";
import { openScreen } from "../screen.ts";

const ready = /^pai> /m;

needs("tmux").test("the model is told of /rewind N code, /redo and /undo, once", async () => {
  const call = { functionCall: { name: "write", args: { path: "a.txt", content: "one\n" } } };
  const headers = { "content-type": "text/event-stream" };
  await using place = openPlace([
    { headers, body: event(parts([call])) },
    ...["Made one.", "Second.", "Third.", "Fourth.", "Fifth."].map((text) => ({ text })),
  ]);
  using screen = openScreen(place, { columns: 100, rows: 50 });
  screen.enter('exec "$PAI" --mode tool-loop --allow-run -y');
  await screen.shows(ready);
  const ask = async (text: string, answer: RegExp) => {
    screen.enter(text);
    await screen.shows(answer);
    return JSON.parse(place.gemini.requests.at(-1)?.body ?? "{}").contents.at(-1).parts[0].text;
  };
  await ask("first", /Made one\./);
  await screen.shows(ready, 2);

  screen.enter("/rewind 1 code");
  await screen.shows(/Take back 1 run: \S+\?\s+go on\?/);
  screen.press("y");
  await screen.shows(/files went back to before turn 1/);
  const rewound = await ask("second", /Second\./);
  expect(rewound).toContain('undone by the user: what you did for "first"');
  expect(rewound).toEndWith("second");
  await screen.shows(ready, 4);
  expect(await ask("third", /Third\./)).not.toContain("undone by the user");
  await screen.shows(ready, 5);

  for (const [n, command, done, did, answer] of [
    [6, "/redo", /redone run/, "brought back by the user", /Fourth\./],
    [8, "/undo", /undone run/, "undone by the user", /Fifth\./],
  ] as const) {
    screen.enter(command);
    await screen.shows(done);
    await screen.shows(ready, n);
    expect(await ask("and now", answer)).toContain(did);
    await screen.shows(ready, n + 1);
  }
});
