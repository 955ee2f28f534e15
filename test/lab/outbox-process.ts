/** A process of its own that sends all letters of an outbox, `FOLDER TEAM MS`: to a file, MS milliseconds after `TEAM.asked` says that it was asked to. */
import { appendFileSync, writeFileSync } from "node:fs";
import { openOutbox } from "../../src/lab/team/outbox.ts";
import { catchUp } from "../../src/lab/team/shared.ts";

const [folder = "", team = "", ms = "0"] = process.argv.slice(2);
const store = {
  name: "team",
  async query(_text: string, [rows]: readonly unknown[]) {
    writeFileSync(`${team}.asked`, "");
    await Bun.sleep(Number(ms));
    appendFileSync(team, `${rows}\n`);
    return [];
  },
  close: async () => {},
};
await catchUp(store, openOutbox(folder));
