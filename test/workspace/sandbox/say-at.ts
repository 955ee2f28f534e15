/** Prints what the sandbox can do for a project in the folder that is named, with its state beside it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBare } from "../bare.ts";

const [folder = ""] = process.argv.slice(2);
mkdirSync(join(folder, "work"));
const { workspace } = await openBare(join(folder, "work"), join(folder, "state"));
console.log(JSON.stringify(await workspace.sandbox()));
