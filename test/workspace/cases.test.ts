/** Every attack on paths, names, links and special objects, through every action, on every backend, as root and as others. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { type Count, countAll } from "./attack/count.ts";

const counter = join(import.meta.dir, "attack/count.ts");
const longest = 60_000;

function judge(counts: readonly Count[]): void {
  expect(counts.flatMap(({ faults }) => faults)).toEqual([]);
  expect(counts.map(({ backend }) => backend)).toEqual(["openat2", "fd-walk", "checked"]);
  // Fewer would mean that the attacks no longer work on anybody, and prove nothing.
  for (const { tried } of counts) expect(tried).toBeGreaterThan(1000);
}

test.concurrent(
  "withstands what works on a careless program",
  async () => {
    judge(await countAll());
  },
  longest,
);

test.concurrent.skipIf(process.geteuid?.() !== 0)(
  "also for an ordinary user",
  async () => {
    const user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"];
    const child = Bun.spawn([...user, process.execPath, counter], { cwd: "/", stdout: "pipe", stderr: "pipe" });
    const [said, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(complained).toBe("");
    judge(JSON.parse(said));
  },
  longest,
);
