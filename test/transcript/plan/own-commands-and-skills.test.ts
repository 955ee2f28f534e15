/** Commands and skills that are files: the user's at once, a project's only after trust, and none is ever run. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openPlace, type Place } from "../harness.ts";
import { talked } from "../replies.ts";
import { inTerminal, openScreen, openSession } from "../screen.ts";

const evil = "#!/bin/sh\ntouch ../spare/ran\n";
const project = {
  "a.txt": "one\n",
  ".pai/commands/ship.md": "---\ndescription: gets it out\n---\nShip $1 now.\n",
  ".pai/skills/tables/SKILL.md":
    "---\nname: tables\ndescription: >\n  how tables\n  are written\n---\nUse SECRET-STYLE.\n",
  ".pai/skills/tables/run.sh": evil,
  ".pai/commands/setup.sh": evil,
};

function putOwn({ home }: Place, name: string, text: string): void {
  const file = join(home, ".config/pai-code", name);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
}

const sent = ({ gemini }: Place, n: number) => gemini.requests[n]?.body ?? "";

test.concurrent("a command of the user is a task: with placeholders, or with what was typed behind its text", async () => {
  await using place = openPlace([talked("1"), talked("2"), talked("3"), talked("4")]);
  const review = "---\ndescription: looks it over\n---\n\nReview $1 and $2, all: $ARGUMENTS; cost $10\n";
  putOwn(place, "commands/review.md", review);
  putOwn(place, "commands/tidy.md", "Tidy up.\n");
  putOwn(place, "skills/notes/SKILL.md", "---\ndescription: x\n---\nWrite notes.\n");
  for (const args of [["run", "/review x.ts", "$1 y"], ["/tidy the", "house"], ["/tidy"], ["run", "/notes"]])
    expect([args, (await place.pai(args)).code]).toEqual([args, 0]);
  expect(sent(place, 0)).toContain("Request: Review x.ts and $1, all: x.ts $1 y; cost $10");
  expect(sent(place, 1)).toContain("Request: Tidy up.\\n\\nthe house");
  expect(sent(place, 2)).toContain("Request: Tidy up.");
  expect(sent(place, 3)).toContain("Request: Write notes.");
  expect(sent(place, 0)).not.toContain("looks it over");
});

test.concurrent("a typo of a command costs nothing; a sentence that begins with a path is a task", async () => {
  await using place = openPlace([talked("1")]);
  putOwn(place, "commands/review.md", "Review.\n");
  for (const args of [
    ["run", "/reveiw"],
    ["/reveiw", "x"],
    ["plan", "/reveiw"],
  ]) {
    const { code, stderr } = await place.pai(args);
    expect([args, code]).toEqual([args, 2]);
    expect(stderr).toMatch(/unknown command: \/reveiw\n {2}did you mean \/review\?/);
  }
  expect((await place.pai(["run", "/etc is what the program reads"])).code).toBe(0);
  expect(place.gemini.requests).toHaveLength(1);
});

test.concurrent("a project's have no effect before trust, work after it, and none again when one changes", async () => {
  await using place = openPlace([talked("1"), talked("2"), talked("3")], project);
  const ship = async () => {
    const { code, stderr } = await place.pai(["run", "/ship it"]);
    expect(code).toBe(3);
    return stderr;
  };
  expect(await ship()).toContain("/ship is a file of this project, which is not trusted");
  await place.pai(["run", "say hello"]);
  // Files of a project are shown as data, these too; nothing is said of them.
  for (const word of ["Skills of this project", "- tables:"]) expect(sent(place, 0)).not.toContain(word);
  const trusted = await place.pai(["trust"]);
  expect(trusted.code).toBe(0);
  const named = "Trusted .pai/commands/ship.md, .pai/skills/tables/SKILL.md in";
  for (const words of [named, "Use SECRET-STYLE."]) expect(trusted.stdout).toContain(words);
  await place.pai(["run", "/ship", "it"]);
  expect(sent(place, 1)).toContain("Request: Ship it now.");
  expect(sent(place, 1)).toContain("- tables: how tables are written (.pai/skills/tables/SKILL.md)");
  writeFileSync(join(place.root, ".pai/skills/tables/SKILL.md"), "---\ndescription: CHANGED\n---\nEvil.\n");
  expect(await ship()).toContain("which has changed since you trusted it");
  await place.pai(["run", "say hello again"]);
  expect(sent(place, 2)).not.toContain("Skills of this project");
  expect(existsSync(join(place.spare, "ran"))).toBe(false);
});

test.concurrent("trust taken back is taken back; pai.json and the commands are trusted together", async () => {
  await using place = openPlace([], { ...project, "pai.json": '{"checks": ["true"]}' });
  expect((await place.pai(["trust"])).stdout).toContain("Trusted pai.json, .pai/commands/ship.md, ");
  expect(JSON.parse((await place.pai(["config", "get", "checks", "--json"])).stdout).data.value).toEqual(["true"]);
  await place.pai(["trust", "--revoke"]);
  expect((await place.pai(["run", "/ship it"])).code).toBe(3);
  expect(JSON.parse((await place.pai(["config", "get", "checks", "--json"])).stdout).data.value).toEqual([]);
});

inTerminal("in a session: listed, completed, run; a name of pai's own stays pai's", async () => {
  await using place = openPlace([talked("Reviewed.")]);
  putOwn(place, "commands/review.md", "---\ndescription: looks it over\n---\nReview $ARGUMENTS.\n");
  putOwn(place, "commands/help.md", "EVIL\n");
  using screen = await openSession(place, '"$PAI"', { columns: 80, rows: 30 });
  await screen.say("/help", /\/review +looks it over/);
  screen.press("/rev", "Tab");
  await screen.shows(/pai> \/review /);
  await screen.say("a.txt", /Reviewed\./);
  expect(sent(place, 0)).toContain("Request: Review a.txt.");
  expect(place.gemini.requests).toHaveLength(1);
});

inTerminal("pai trust shows what it would trust and asks; no leaves everything as it was", async () => {
  await using place = openPlace([], project);
  using screen = openScreen(place, { columns: 100, rows: 40 });
  await screen.say('"$PAI" trust; echo "ended with $?"', /Trust this as it is\?/);
  await screen.shows(/Use SECRET-STYLE\./);
  await screen.say("n", /ended with 10/);
  expect((await place.pai(["run", "/ship it"])).code).toBe(3);
  await screen.say('"$PAI" trust; echo "ended with $?"', /Trust this as it is\?/, 2);
  await screen.say("y", /Trusted \.pai\/commands\/ship\.md/);
  await screen.shows(/ended with 0/);
});
