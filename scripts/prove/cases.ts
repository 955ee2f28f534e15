/** Counts attacks on paths, names, links and special objects by outcome, for each user. */
import { join } from "node:path";
import type { Count } from "../../test/workspace/attack/count.ts";

const counter = join(import.meta.dir, "../../test/workspace/attack/count.ts");

function countAs(prefix: readonly string[]): Count {
  const { stdout, stderr, success } = Bun.spawnSync([...prefix, process.execPath, counter], { cwd: "/" });
  if (!success) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

/** Runs the attacks as the current user, and for root also as nobody. Throws when one succeeds. */
export async function prove(): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  const nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"];
  const users = isRoot
    ? ([
        ["root", []],
        ["ordinary user", nobody],
      ] as const)
    : ([["ordinary user", []]] as const);
  console.log("user | tried | refused | contained | skipped | faults");
  for (const [user, prefix] of users) {
    const { tried, refused, contained, skipped, faults } = countAs(prefix);
    console.log([user, tried, refused, contained, skipped, faults.length].join(" | "));
    if (faults.length > 0) throw new Error(faults.join("\n"));
  }
}
