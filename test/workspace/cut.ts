/** Cuts processes off and looks at what the next start makes of it. */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isTemporary } from "../../src/workspace/atomic-write.ts";
import { openPlace, type Place, treeOf } from "./tree.ts";
import { changeTwelve, renewTwelve } from "./twelve.ts";

export type Work = "commit" | "recover";

/** A child that waits for `go`. */
export async function startCommitter({ base }: Place, work: Work) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "committer.ts"), base, work], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const reader = child.stdout.getReader();
  await reader.read();
  return {
    pid: child.pid,
    /** It may be dead already. */
    go() {
      try {
        child.stdin.write("\n");
        child.stdin.flush();
      } catch {
        // Its end tells.
      }
    },
    kill: () => child.kill("SIGKILL"),
    /** What it said last, empty when it was killed. */
    async end(): Promise<string> {
      let said = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        said += Buffer.from(part.value).toString();
      }
      await child.exited;
      return said.trim();
    },
  };
}

export interface Fixture {
  readonly before: string;
  readonly after: string;
}

/** Both ends as text; the place is left as it was before. */
export async function bothEnds(place: Place): Promise<Fixture> {
  renewTwelve(place);
  const before = describe(place);
  const opened = openPlace(place);
  const run = opened.begin("run");
  await run.apply(changeTwelve());
  const after = describe(place);
  await run.rollback();
  opened.root.close();
  if (describe(place) !== before) throw new Error("a rollback does not bring back the start");
  renewTwelve(place);
  return { before, after };
}

/** The tree as text, with the time of the file that nobody touches. */
export function describe({ work }: Place): string {
  return JSON.stringify([treeOf(work), lstatSync(join(work, "stays.txt")).mtimeMs], null, 1);
}

/** The next start of pai. Throws when it leaves something between, a temporary file, or an open run. */
export async function recoverHere(place: Place, { before, after }: Fixture): Promise<"before" | "after"> {
  await openPlace(place).recover();
  const now = describe(place);
  const open = join(place.state, "open");
  if (existsSync(open) && readdirSync(open).length > 0) throw new Error("a run is still open");
  const stray = readdirSync(place.work, { recursive: true, encoding: "utf8" }).filter((path) =>
    isTemporary(path.split("/").at(-1) ?? ""),
  );
  if (stray.length > 0) throw new Error(`stray files: ${stray.join(", ")}`);
  if (now === before) return "before";
  if (now === after) return "after";
  throw new Error(`neither before nor after:\n${now}\nrecord:\n${recordOf(place)}`);
}

function recordOf({ state }: Place): string {
  const path = join(state, "journal/run/record");
  return existsSync(path) ? readFileSync(path, "utf8") : "none";
}
