/** Lets a command that may only read write to its project, and prints whether it could: `write-reading.ts WAY`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ways } from "../../../src/workspace/sandbox/confinement.ts";
import { newFolder } from "../../grounds.ts";
import { openOnly } from "./bare-confinement.ts";

const workspace = newFolder("checkout", "reading");
const only = ways.find((each) => each === process.argv[2]);
const result = await (await openOnly(only, workspace)).run("ls; echo x > new", { readsOnly: true });
console.log(JSON.stringify({ level: result?.level, exit: result?.exit, made: existsSync(join(workspace, "new")) }));
