/** On a full disk an index that was good stays and is used, one that was damaged is removed, and nothing half made stays. */
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { indexName } from "../../../src/workspace/index/index-name.ts";
import { inPlace, type Place } from "./index-place.ts";

const program = join(import.meta.dir, "index-process.ts");
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

/** Runs a shell script in which `run` makes an index of the place and `run status` tells what it holds; its lines. */
function runScript({ root, state }: Place, lines: readonly string[]): readonly string[] {
  const run = 'run() { "$BUN" "$PROGRAM" "$ROOT" "$STATE" $1; echo; }';
  const done = spawnSync(
    canMount ? "unshare" : "env",
    [...(canMount ? ["-rm"] : []), "sh", "-c", [run, ...lines].join("\n")],
    {
      encoding: "utf8",
      env: {
        BUN: process.execPath,
        PROGRAM: program,
        ROOT: root,
        STATE: state,
        PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
      },
    },
  );
  if (done.status !== 0) throw new Error(`${done.status} ${done.signal}: ${done.stderr}`);
  return done.stdout.trim().split("\n");
}

/** Each of the 30 files gets 3,000 words that no other has, which are more than fit. */
const change = `at=0; for file in "$ROOT"/src/*/*.py; do
  at=$((at + 1)); seq -f "w\${at}_%.0f" 3000 >>"$file"
done`;
const whole = JSON.stringify({ files: 30, complete: true });

const scarce = [
  {
    what: "a full disk",
    isPossible: canMount,
    before: 'mkdir -p "$STATE"; mount -t tmpfs -o size=500k tmpfs "$STATE"',
    fill: 'head -c 1g /dev/zero >"$STATE/fill" 2>/dev/null; truncate -s -12k "$STATE/fill"',
  },
  {
    what: "a limit on the size of files",
    isPossible: true,
    before: ":",
    fill: "trap '' XFSZ; ulimit -f 300",
  },
];

describe.each(scarce)("with $what", ({ isPossible, before, fill }) => {
  const names = 'cd "$STATE"/*-*; ls -A';

  test.skipIf(!isPossible)(
    "an index that was good is kept and used, before and after it could not be updated",
    async () => {
      await inPlace(async (place) => {
        const steps = [before, "run >/dev/null", fill, "run status", change, "run", "run status", names];
        const [full, made, after, ...left] = runScript(place, steps);
        expect(full).toBe(whole);
        expect(JSON.parse(made ?? "")).toMatchObject({
          unread: 0,
          made: expect.stringMatching(/^failed: the index stays, but could not be updated: /),
        });
        expect(after).toBe(whole);
        expect(left).toEqual([indexName]);
      });
    },
  );

  test.skipIf(!isPossible)("an index that was damaged is removed, and the message says so", async () => {
    await inPlace(async (place) => {
      const spoil = 'head -c 4096 /dev/zero | dd of="$(echo "$STATE"/*-*/*.sqlite)" conv=notrunc 2>/dev/null';
      const [made, ...left] = runScript(place, [before, "run >/dev/null", fill, change, spoil, "run", names]);
      expect(JSON.parse(made ?? "")).toMatchObject({
        made: expect.stringMatching(/^failed: the index was damaged and is removed, /),
      });
      expect(left).toEqual([]);
    });
  });

  test.skipIf(!isPossible)("nothing stays of an index that could not be finished", async () => {
    await inPlace(async (place) => {
      const [made, ...left] = runScript(place, [before, change, fill, "run", names]);
      expect(JSON.parse(made ?? "")).toMatchObject({
        unread: 0,
        made: expect.stringMatching(/^failed: no index can be kept/),
      });
      expect(left).toEqual([]);
    });
  });
});
