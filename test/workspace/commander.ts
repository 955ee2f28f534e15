/** A process to be killed while a command of it is at work. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../src/workspace/open.ts";
import { change, file } from "./tree.ts";

const base = process.argv[2] ?? "";
const { workspace } = await openWorkspace({
  root: join(base, "work"),
  stateDir: join(base, "state"),
  home: null,
  force: true,
  policy: { allow: [], deny: [] },
  env: { PATH: "/usr/bin:/bin" },
  commandEnv: [],
  umask: 0o022,
});
const run = await workspace.begin({ id: "r1", task: "t" });
await run.apply([change("a.txt", file("a"), file("A"))]);
const { signal } = new AbortController();
await run.run("printf B >> b.txt", { by: "user", timeoutMs: 5000, signal });
writeSync(1, "go\n");
await run.run("rm c.txt; touch sign; sleep 20", { by: "user", timeoutMs: 30_000, signal });
