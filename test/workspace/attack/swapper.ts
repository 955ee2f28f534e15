/** The attacker of the race: swaps a folder and a link that leads out, as fast as it can, until it is ended. */
import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";
import { findLibc } from "../../../src/system/libc.ts";

const [folder = "", link = ""] = process.argv.slice(2);
const number = process.arch === "arm64" ? 276 : 316;
const here = -100;
const exchange = 2;
const libc = dlopen(findLibc(readFileSync("/proc/self/maps", "latin1")), {
  syscall: { args: ["i64", "i32", "buffer", "i32", "buffer", "u32"], returns: "i32" },
});
const a = Buffer.from(`${folder}\0`);
const b = Buffer.from(`${link}\0`);
let swaps = 0;
console.log("swapping");
for (;;) {
  if (libc.symbols.syscall(number, here, a, here, b, exchange) !== 0) throw new Error("cannot swap here");
  swaps += 1;
  // Uneven, so that no rhythm of the other side is met by chance.
  for (let wait = (swaps * 7919) % 400; wait > 0; wait -= 1) Math.sqrt(wait);
}
