/** A separate process that searches and reads a log and prints what it held at most, in megabytes: `bun searched-log.ts FOLDER`. */
import { readFileSync } from "node:fs";
import { openRoot } from "../../src/workspace/confine.ts";
import { readEnds } from "../../src/workspace/search/read-lines.ts";
import { search } from "../../src/workspace/search/search.ts";
import { noRules, p } from "./folder.ts";

const [folder = ""] = process.argv.slice(2);
const hide = async (text: string) => text;
const query = { pattern: "nothing.*here", ignoreCase: false, under: p(""), include: null, maxHits: 10, hide };
const root = openRoot(folder, { force: false, home: null });
await search(root, { ...query, staged: new Map() }, noRules);
await readEnds(root, p("app.log"), 10);
const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
console.log(Number(kilobytes) / 1024);
