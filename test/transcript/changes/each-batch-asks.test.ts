/** tool-loop in a real terminal: each batch asks, and an `a` answers for its folder from then on. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { inTerminal, openScreen, ready } from "../screen.ts";

const usage = { input: 10, cached: 0, output: 10, thought: 0 };
const writes = (id: string, path: string) => ({
  text: "",
  calls: [{ id, name: "write", input: { path, content: `${id}\n` } }],
  stop: "calls",
  usage,
});

inTerminal("an a covers later batches below the folder, and no other", async () => {
  await using place = openPlace();
  const replies = [
    writes("1", "src/a.txt"),
    writes("2", "src/deep/b.txt"),
    writes("3", "other/c.txt"),
    { text: "# Done\n\nAll **three** were asked for.", calls: [], stop: "end", usage },
  ];
  writeFileSync(join(place.spare, "r.jsonl"), replies.map((reply) => `${JSON.stringify(reply)}\n`).join(""));
  using screen = openScreen(place, { columns: 80, rows: 24 });
  screen.enter('"$PAI" --mode tool-loop --model replay:../spare/r.jsonl; echo "ended $?"');
  await screen.shows(ready);
  screen.enter("write three files");
  await screen.shows(/create src\/a\.txt\napply\? y, n, a \(always below src\/\)/);
  expect(place.tree()).toEqual({});
  screen.enter("a");
  await screen.shows(/create other\/c\.txt\napply\? y, n, a \(always below other\/\)/);
  expect(place.tree()).toEqual({ "src/a.txt": "1\n", "src/deep/b.txt": "2\n" });
  screen.enter("no thanks, leave it");
  await screen.shows(/All three were asked for\./);
  expect(screen.text()).toMatch(/^Done$/m);
  expect(Object.keys(place.tree())).toEqual(["src/a.txt", "src/deep/b.txt"]);
  screen.press("C-d");
  await screen.shows(/ended 0/);
});

inTerminal("/clear forgets what an a allowed", async () => {
  await using place = openPlace();
  const told = { text: "Written.", calls: [], stop: "end", usage };
  const replies = [writes("1", "src/a.txt"), told, writes("2", "src/b.txt"), told];
  writeFileSync(join(place.spare, "r.jsonl"), replies.map((reply) => `${JSON.stringify(reply)}\n`).join(""));
  using screen = openScreen(place, { columns: 80, rows: 24 });
  screen.enter('"$PAI" --mode tool-loop --model replay:../spare/r.jsonl');
  await screen.shows(ready);
  screen.enter("write a");
  await screen.shows(/always below src/);
  screen.enter("a");
  await screen.shows(/Written\./);
  await screen.shows(ready, 2);
  screen.enter("/clear");
  await screen.shows(/cleared: .*asked again/s);
  screen.enter("write b");
  await screen.shows(/create src\/b\.txt\napply\?/);
  expect(place.tree()).toEqual({ "src/a.txt": "1\n" });
});
