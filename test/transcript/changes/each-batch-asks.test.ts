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
