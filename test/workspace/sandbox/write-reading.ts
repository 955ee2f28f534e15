/** Lets a command that may only read write to its project, and prints whether it could: `write-reading.ts WAY`. */
import { existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runConfined } from "../../../src/workspace/command/shell.ts";
import { ways } from "../../../src/workspace/sandbox/confinement.ts";
import { openSandbox } from "../../../src/workspace/sandbox/open-sandbox.ts";
import { defaultSandbox } from "../../../src/workspace/sandbox/settings.ts";
import { newFolder } from "../../grounds.ts";

const only = ways.filter((each) => each === process.argv[2]).map((each) => ({ only: each }));
const workspace = newFolder("checkout", "reading");
const sandbox = openSandbox({
  settings: { ...defaultSandbox, ...only[0] },
  workspace,
  workspaceFd: openSync(workspace, 0o10200000),
  rules: { allow: [], deny: [] },
  home: null,
  own: [],
  stateFolder: null,
});
try {
  const limits = { env: { PATH: "/usr/bin:/bin" }, timeoutMs: 20_000, signal: new AbortController().signal };
  const words = { by: "plan", stdin: "ignore", stderr: "merge", layers: null, readsOnly: true } as const;
  const result = await runConfined("ls; echo x > new", limits, (argv, env) => sandbox.start({ argv, env, ...words }));
  console.log(JSON.stringify({ level: result?.level, exit: result?.exit, made: existsSync(join(workspace, "new")) }));
} finally {
  rmSync(workspace, { recursive: true });
}
