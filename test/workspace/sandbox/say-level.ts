/** Prints what the sandbox can do for whoever starts it. */
import { here } from "./here.ts";

console.log(JSON.stringify(here));
