/** Runs a proof of one of pai's promises, a file prove/NAME.ts: `bun scripts/prove.ts NAME [arguments]`. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Every proof exports `prove`: it prints its figures and throws when the promise does not hold. */
interface Proof {
  prove(args: readonly string[]): Promise<void>;
}

const names = readdirSync(join(import.meta.dir, "prove")).flatMap((file) => /^([\w-]+)\.ts$/.exec(file)?.[1] ?? []);
const [name = "", ...args] = process.argv.slice(2);
if (!names.includes(name)) {
  console.error(`usage: bun scripts/prove.ts ${names.join("|")}`);
  process.exit(2);
}
const proof: Proof = await import(`./prove/${name}.ts`);
await proof.prove(args);
