/** A process to be cut off: says that it is ready, waits for a byte, then commits twelve files or recovers, and says how it ended. */
import { readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { toPaiError } from "../../src/core/error.ts";
import { openPlace } from "./tree.ts";
import { changeTwelve } from "./twelve.ts";

const [base = "", work = "commit"] = process.argv.slice(2);
const opened = openPlace({ base, work: join(base, "work"), state: join(base, "state"), remove: () => {} });
const changes = changeTwelve();

async function commit(): Promise<void> {
  const run = opened.begin("run");
  await run.apply(changes);
  await run.close();
}

writeSync(1, "ready\n");
readSync(0, Buffer.alloc(1));
try {
  const told = work === "commit" ? await commit() : await opened.recover();
  writeSync(1, ["done", ...(told ?? [])].join("\n"));
} catch (thrown) {
  writeSync(1, `${toPaiError(thrown).code}\n`);
}
