/** Which files in the user's folders are pai's own. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBelongings, findUnfinished } from "../../src/store/belongings.ts";
import type { Places } from "../../src/store/places.ts";

const shelf = mkdtempSync(join(tmpdir(), "pai-belongings-"));
afterAll(() => rmSync(shelf, { recursive: true }));

/** A state folder with these entries; those that end in a slash are folders. */
function openState(name: string, entries: readonly string[]): Places {
  const stateDir = join(shelf, name);
  mkdirSync(stateDir, { recursive: true });
  for (const entry of entries) {
    const path = join(stateDir, entry);
    mkdirSync(entry.endsWith("/") ? path : join(path, ".."), { recursive: true });
    if (!entry.endsWith("/")) writeFileSync(path, "");
  }
  return { configDir: null, stateDir } as unknown as Places;
}

const workspace = "shop-0123456789ab";

test("everything that a project with servers, sessions and killed commands leaves is pai's own", () => {
  const held = "journal open closed held sessions runs memory.json input.jsonl ended.jsonl undone.jsonl seal lock";
  const entries = [
    ...["mcp.json", "mcp.json.lock", "trust.json", "endpoints.json", "keys.json", "days.sqlite-wal"],
    ...held.split(" ").map((name) => `${workspace}/${name}${name.includes(".") || /seal|lock/.test(name) ? "" : "/"}`),
  ];
  const { own, foreign } = findBelongings(openState("whole", entries));
  expect(foreign).toEqual([]);
  expect(own).toHaveLength(7);
});

test("a file of somebody else keeps its folder from being pai's", () => {
  const { own, foreign } = findBelongings(
    openState("mixed", ["notes.txt", `${workspace}/runs/`, `${workspace}/notes`]),
  );
  expect([own, foreign.length]).toEqual([[], 2]);
});

test("a command that was killed while files were closed has not ended", () => {
  expect(findUnfinished(openState("ended", [`${workspace}/open/`, `${workspace}/closed/`]))).toEqual([]);
  expect(findUnfinished(openState("killed", [`${workspace}/closed/r1`]))).toEqual([workspace]);
  expect(findUnfinished(openState("running", [`${workspace}/open/r1`]))).toEqual([workspace]);
});
