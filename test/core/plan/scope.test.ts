/** What a plan promises is a right to exactly that. */
import { expect, test } from "bun:test";
import type { RelPath } from "../../../src/core/path.ts";
import { type PlanClaim, permits, scopeOf } from "../../../src/core/plan/scope.ts";

const at = (path: string) => path as RelPath;
const scope = scopeOf([
  { kind: "content", path: at("src/a.ts") },
  { kind: "delete", path: at("old") },
  { kind: "move", from: at("b.ts"), to: at("lib/b.ts") },
  { kind: "folder", path: at("docs") },
  { kind: "command", command: "make test" },
]);

test("the same path, the content of a deleted folder, and parent folders", () => {
  const allowed: readonly PlanClaim[] = [
    { kind: "content", path: at("src/a.ts") },
    { kind: "delete", path: at("old") },
    { kind: "delete", path: at("old/deep/file") },
    { kind: "move", from: at("b.ts"), to: at("lib/b.ts") },
    { kind: "folder", path: at("src") },
    { kind: "folder", path: at("lib") },
    { kind: "command", command: " make test" },
  ];
  for (const claim of allowed) expect([claim, permits(scope, claim)]).toEqual([claim, true]);
});

test("no neighbour that shares the beginning of a name, no other kind of action, no longer command", () => {
  const refused: readonly PlanClaim[] = [
    { kind: "content", path: at("src/a.ts.bak") },
    { kind: "content", path: at("old") },
    { kind: "delete", path: at("older") },
    { kind: "delete", path: at("old.txt") },
    { kind: "delete", path: at("src/a.ts") },
    { kind: "move", from: at("b.ts"), to: at("c.ts") },
    { kind: "move", from: at("c.ts"), to: at("lib/b.ts") },
    { kind: "folder", path: at("sr") },
    { kind: "folder", path: at("docs2") },
    { kind: "command", command: "make test; rm -rf old" },
    { kind: "command", command: "make" },
  ];
  for (const claim of refused) expect([claim, permits(scope, claim)]).toEqual([claim, false]);
});
