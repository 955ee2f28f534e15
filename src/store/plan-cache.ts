/** Keeps plans of successful runs, to reuse them for the same request on the same files. */

import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { orNull } from "../core/error.ts";
import type { Json } from "../core/model.ts";
import type { PlanCache } from "../core/ports.ts";
import { readPrivate, writePrivate } from "./safe-file.ts";

const maxPlans = 200;
const maxAgeMs = 7 * 24 * 60 * 60 * 1000;

function prune(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= maxPlans) return;
  const files = names.map((name) => join(folder, name));
  const newestFirst = files.map((file) => ({ file, at: statSync(file).mtimeMs })).sort((a, b) => b.at - a.at);
  for (const { file } of newestFirst.slice(maxPlans)) rmSync(file, { force: true });
}

/** Ignores all errors: a cache that cannot be read or written only costs one more call. */
export function openPlanCache(stateDir: string, now: () => Date): PlanCache {
  const folder = join(stateDir, "plans");
  const fileOf = (key: string) => join(folder, `${key}.json`);
  return {
    load(key) {
      const kept = orNull(
        () => JSON.parse(readPrivate(fileOf(key)) ?? "null") as { readonly at: number; readonly plan: Json } | null,
      );
      return kept !== null && now().getTime() - kept.at < maxAgeMs ? kept.plan : null;
    },
    save(key, plan) {
      orNull(() => {
        writePrivate(fileOf(key), JSON.stringify({ at: now().getTime(), plan }), { lasting: false });
        prune(folder);
      });
    },
  };
}
