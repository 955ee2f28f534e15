/** A separate process that runs one command and prints its own peak memory: `bun much-output.ts COMMAND`. */
import { runShell } from "../../src/workspace/command/shell.ts";

const [command = ""] = process.argv.slice(2);
const options = { cwd: "/", env: { PATH: "/usr/bin:/bin" }, timeoutMs: 20_000, signal: new AbortController().signal };
const { output } = await runShell(command, options);
console.log(JSON.stringify({ end: output.slice(-40), peak: process.resourceUsage().maxRSS * 1024 }));
