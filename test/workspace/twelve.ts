/** A change of twelve files that does everything a change can do, for the tests and proofs that cut it off. */
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Change } from "../../src/core/change.ts";
import { change, file, type Place } from "./tree.ts";

const text = (seed: string, lines: number) => Array.from({ length: lines }, (_, n) => `${seed} ${n}\r\n`).join("");
const long = Array.from({ length: 6 }, (_, n) => `src/part${n}.txt`);

const old: Readonly<Record<string, string>> = {
  ...Object.fromEntries(long.map((path, n) => [path, text(path, 50 * n)])),
  "gone.txt": "gone",
  "old/b.txt": "b",
  "old/deep/c.txt": "c",
  "stays.txt": "nobody touches this",
};

/** The folder as it was, and no trace of an earlier run. */
export function renewTwelve({ work, state }: Place): void {
  for (const folder of [work, state]) rmSync(folder, { recursive: true, force: true });
  for (const [path, content] of Object.entries(old)) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), content);
  }
  mkdirSync(join(work, "empty"));
  symlinkSync("stays.txt", join(work, "link"));
  utimesSync(join(work, "stays.txt"), 1, 1);
}

export function changeTwelve(): readonly Change[] {
  const folder = { kind: "folder", mode: 0o755 } as const;
  return [
    ...long.map((path) => change(path, file(old[path] ?? ""), file(text(`new ${path}`, 70)))),
    change("gone.txt", file("gone"), null),
    change("old", folder, null),
    change("old/deep", folder, null),
    change("old/b.txt", file("b"), null),
    change("old/deep/c.txt", file("c"), null),
    change("moved/b.txt", null, file("b"), "old/b.txt"),
    change("moved/c.txt", null, file("c", 0o755), "old/deep/c.txt"),
    change("made/one.txt", null, file("one")),
    change("link", { kind: "link", target: "stays.txt" }, { kind: "link", target: "made/one.txt" }),
    change("empty", folder, null),
  ];
}
