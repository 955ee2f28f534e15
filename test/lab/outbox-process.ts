/**
 * A process of its own at an outbox: `FOLDER write N` puts an undo and its redo for N runs, `FOLDER send TEAM MS` sends
 * all letters to a file, MS milliseconds after `TEAM.asked` says that it was asked to.
 */
import { appendFileSync, writeFileSync } from "node:fs";
import { openOutbox } from "../../src/lab/team/outbox.ts";
import { catchUp, mailUndone } from "../../src/lab/team/shared-runs.ts";

const [folder = "", what, first = "", second = "0"] = process.argv.slice(2);
const outbox = openOutbox(folder);
if (what === "write") {
  for (let at = 0; at < Number(first); at += 1)
    for (const undone of [true, false]) mailUndone(outbox, "box", { root: "/home/ana/shop", id: `${at}` }, undone);
} else {
  const store = {
    name: "team",
    async query(_text: string, [rows]: readonly unknown[]) {
      writeFileSync(`${first}.asked`, "");
      await Bun.sleep(Number(second));
      appendFileSync(first, `${rows}\n`);
      return [];
    },
    close: async () => {},
  };
  await catchUp(store, outbox);
}
