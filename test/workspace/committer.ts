/** A process for the kill -9 test: says that it begins, commits a batch, and waits to be killed. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { change, file, openPlace } from "./tree.ts";

const base = process.argv[2] ?? "";
const opened = openPlace({ base, work: join(base, "work"), state: join(base, "state"), remove: () => {} });
const tx = opened.begin("r1");
writeSync(1, "begin\n");
await tx.apply([
  change("a.txt", file("a"), file("A".repeat(100_000))),
  change("b.txt", file("b"), null),
  ...Array.from({ length: 20 }, (_, n) => change(`new/${n}.txt`, null, file(`${n}`))),
]);
await Bun.sleep(10_000);
