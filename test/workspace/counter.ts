/** A process for the two-process test: counts a file up, trying again whenever it lost a race. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { PaiError } from "../../src/core/error.ts";
import { at, change, openPlace } from "./tree.ts";

const [base = "", times = "0"] = process.argv.slice(2);
const opened = openPlace({ base, work: join(base, "work"), state: join(base, "state"), remove: () => {} });
let done = 0;
let conflicts = 0;
while (done < Number(times)) {
  const found = opened.root.readBytes(at("counter"), 100);
  if (found === null) continue;
  const bytes = new TextEncoder().encode(String(Number(Buffer.from(found.bytes).toString()) + 1));
  const mode = found.stat.mode;
  const tx = opened.begin(`r-${process.pid}-${done}-${conflicts}`);
  try {
    await tx.apply([change("counter", { kind: "file", bytes: found.bytes, mode }, { kind: "file", bytes, mode })]);
    done++;
  } catch (thrown) {
    if (!(thrown instanceof PaiError) || thrown.code !== "conflict") throw thrown;
    conflicts++;
  }
  await tx.close();
}
writeSync(1, JSON.stringify({ done, conflicts }));
