/** tool-loop in a real terminal: each batch asks, and an `a` answers for its folder from then on. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { inTerminal, openSession, ready } from "../screen.ts";

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
  using screen = await openSession(place, '"$PAI" --mode tool-loop --model replay:../spare/r.jsonl', {
    columns: 80,
    rows: 24,
  });
  await screen.say("write a", /always below src/);
  await screen.say("a", /Written\./);
  await screen.shows(ready, 2);
  await screen.say("/clear", /cleared: .*asked again/s);
  await screen.say("write b", /create src\/b\.txt\napply\?/);
  expect(place.tree()).toEqual({ "src/a.txt": "1\n" });
});
