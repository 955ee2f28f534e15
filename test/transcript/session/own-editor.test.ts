/** The person's own editor for a long message: the terminal is its while it runs, and pai's again afterwards. */
import { expect } from "bun:test";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place } from "../harness.ts";
import { talked } from "../replies.ts";
import { inTerminal, leave, openSession } from "../screen.ts";

const sentIn = ({ gemini }: Place, n: number): string => gemini.requests[n - 1]?.body ?? "";

inTerminal(
  "Ctrl+X Ctrl+E opens the person's editor; what it saved stands at the prompt and is sent by Enter (R49)",
  async () => {
    await using place = openPlace([talked("One."), talked("Two.")]);
    const script = join(place.spare, "edit.sh");
    writeFileSync(
      script,
      '#!/bin/sh\nread -r answer </dev/tty\n{ cat "$2"; echo "from $1 $answer"; } > ../spare/new; cp ../spare/new "$2"\n',
    );
    chmodSync(script, 0o755);
    using screen = await openSession(place, `TMPDIR=$PWD/../spare EDITOR='${script} outside' "$PAI"`);
    screen.press("begun", "C-x", "C-e");
    await Bun.sleep(500);
    await screen.say("typed there", /from outside typed there/);
    expect(screen.text().match(/pai> begun/g)).toHaveLength(1);
    screen.press(" and more", "Enter");
    await screen.shows(/One\./);
    expect(sentIn(place, 1)).toContain("begun\\nfrom outside typed there and more");
    expect(readdirSync(place.spare).filter((name) => name.startsWith("pai-message-"))).toEqual([]);
    await leave(place, screen);
  },
);

inTerminal("an editor that fails or is not there leaves the message as it was", async () => {
  await using place = openPlace([talked("One.")]);
  using screen = await openSession(place, `VISUAL=false "$PAI"`);
  screen.press("begun", "C-x", "C-e");
  await screen.shows(/false ended with 1; the message is unchanged/);
  screen.press(" again", "C-x", "x", "Enter");
  await screen.shows(/One\./);
  expect(sentIn(place, 1)).toContain("begun againx");
  await leave(place, screen);
});
