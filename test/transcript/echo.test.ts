/** The terminal's echo while a run works in a session: off, and given back whenever the run does not have the terminal. */
import { expect, setDefaultTimeout } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace, type Place, patience } from "./harness.ts";
import { talked } from "./replies.ts";
import { inTerminal, openScreen, ready } from "./screen.ts";

setDefaultTimeout(patience);

const sttyOf = ({ spare }: Place, when: "before" | "after") => readFileSync(join(spare, when), "utf8");

inTerminal(
  "a run that is stopped gives the echo back, to a shell that does not see to it; fg takes it away (R10)",
  async () => {
    await using place = openPlace([{ ...talked("Forty-two."), delayMs: 4000 }]);
    using screen = openScreen(place, { columns: 80, rows: 24 });
    await screen.shell("stty -a > ../spare/before");
    screen.enter('"$PAI"');
    await screen.shows(ready);
    screen.enter("what is it?");
    await place.gemini.arrived(1);
    screen.press("C-z");
    await screen.shows(/Stopped/);
    await screen.shell("stty -a > ../spare/after");
    expect(sttyOf(place, "after")).toBe(sttyOf(place, "before"));
    screen.enter("fg");
    await screen.shows(/^"\$\{PAI\}"$/m);
    await Bun.sleep(300);
    screen.press("l", "a", "t", "e", "r");
    await Bun.sleep(300);
    expect(screen.text()).not.toContain("later");
    await screen.shows(/Forty-two\.[\s\S]*^pai> later/m);
    screen.press("C-u");
    screen.enter("exit");
    await screen.shows(/^pai> exit ?\n1 call, .*; go on with: pai resume \S+\n\$ /m);
    await screen.shell("stty -a > ../spare/after");
    expect(sttyOf(place, "after")).toBe(sttyOf(place, "before"));
  },
);
