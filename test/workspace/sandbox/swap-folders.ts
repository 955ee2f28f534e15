/** A process of its own that swaps folders with links without end: `bun swap-folders.ts FOLDER`, for FOLDER/f0 and FOLDER/l0 up to 39. */
import { dlopen } from "bun:ffi";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findLibc } from "../../../src/system/libc.ts";

const [at = ""] = process.argv.slice(2);
const { renameat2 } = dlopen(findLibc(readFileSync("/proc/self/maps", "latin1")), {
  renameat2: { args: ["i32", "cstring", "i32", "cstring", "u32"], returns: "i32" },
}).symbols;
const here = -100;
const exchange = 2;
const pairs = Array.from({ length: 40 }, (_, index) =>
  [`f${index}`, `l${index}`].map((name) => Buffer.from(`${join(at, name)}\0`)),
);
console.log("ready");
for (const end = Date.now() + 10_000; Date.now() < end; Bun.sleepSync(1))
  for (const [folder, link] of pairs) if (folder && link) renameat2(here, folder, here, link, exchange);
