/** A process to be killed while a command of it is at work. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { openBare, quick, usualEnv } from "./bare.ts";
import { change, file } from "./tree.ts";

const base = process.argv[2] ?? "";
const { workspace } = await openBare(join(base, "work"), join(base, "state"), { env: usualEnv });
const run = await workspace.begin({ id: "r1", task: "t" });
await run.apply([change("a.txt", file("a"), file("A"))]);
await run.run("printf B >> b.txt", { ...quick, by: "user" });
writeSync(1, "go\n");
await run.run("rm c.txt; touch sign; sleep 20", { ...quick, by: "user", timeoutMs: 30_000 });
