/** Which files in the user's folders are pai's own. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBelongings, findUnfinished } from "../../src/store/belongings.ts";
import type { Places } from "../../src/store/places.ts";
import { newFolder } from "../grounds.ts";

const shelf = newFolder("disk", "belongings");

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

test("the usual folder of state is pai's own, any other one is named, whatever it is called", () => {
  const usual = openState("state/pai-code", [`${workspace}/runs/`, "keys.json"]);
  expect(findBelongings(usual, usual.stateDir)).toEqual({ own: [String(usual.stateDir)], foreign: [] });
  for (const name of ["mixed", "source/pai-code"]) {
    const other = openState(name, ["notes.txt", `${workspace}/runs/`]);
    expect(findBelongings(other, usual.stateDir)).toEqual({ own: [], foreign: [String(other.stateDir)] });
  }
});

test("a run that was killed, or goes on, has not ended", () => {
  expect(findUnfinished(openState("ended", [`${workspace}/open/`]))).toEqual([]);
  expect(findUnfinished(openState("killed", [`${workspace}/open/r1`]))).toEqual([workspace]);
});
