/** What others do between a look and a change, or before an undo: nothing outside, nothing lost. */
import { expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { allActions } from "../../src/actions/registry.ts";
import { PaiError } from "../../src/core/error.ts";
import type { Workspace } from "../../src/core/ports.ts";
import { createOverlay } from "../../src/flows/stage.ts";
import { openFor } from "./attack/drive.ts";
import { buildWorld, type World } from "./attack/world.ts";

const text = (path: string) => readFileSync(path, "utf8");

/** Looks, lets somebody act, and applies. */
async function modifyAfter(workspace: Workspace, path: string, meanwhile: () => void): Promise<string> {
  const modify = allActions.find(({ name }) => name === "MODIFY");
  const input = { path, edits: [{ search: "fine", replace: "changed" }] };
  const proposal = await modify?.propose(input, createOverlay(workspace), new AbortController().signal);
  if (proposal?.kind !== "change") throw new Error("not proposed");
  meanwhile();
  const transaction = await workspace.begin({ id: Bun.randomUUIDv7(), task: "t" });
  const outcome = await transaction.apply(proposal.changes).then(
    () => "applied",
    (thrown) => (thrown instanceof PaiError ? thrown.code : String(thrown)),
  );
  await transaction.close();
  return outcome;
}

async function inWorld(use: (world: World) => Promise<void>): Promise<void> {
  const world = buildWorld();
  await use(world);
}

test("a file that became a link after it was read is a conflict", () =>
  inWorld(async (world) => {
    const { workspace } = await openFor(world);
    const swap = () => {
      rmSync(world.place("ok"));
      symlinkSync("../plain", world.place("ok"));
    };
    expect(await modifyAfter(workspace, "ok", swap)).toBe("conflict");
    expect(text(join(world.outside, "plain"))).toContain("fine");
  }));
