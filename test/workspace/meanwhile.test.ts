/** What others do between a look and a change, or before an undo: nothing outside, nothing lost. */
import { expect, test } from "bun:test";
import { readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { allActions } from "../../src/actions/registry.ts";
import { PaiError } from "../../src/core/error.ts";
import type { Workspace } from "../../src/core/ports.ts";
import { createOverlay } from "../../src/flows/stage.ts";
import { needs, rootUser } from "../needs.ts";
import { act, openFor } from "./attack/drive.ts";
import { buildWorld, canary, type World } from "./attack/world.ts";

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
  try {
    await use(world);
  } finally {
    world.remove();
  }
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

test("a folder that became a link after it was looked at is refused", () =>
  inWorld(async (world) => {
    world.file("d/f", "fine\n");
    const { workspace } = await openFor(world);
    const swap = () => {
      renameSync(world.place("d"), world.place("kept"));
      symlinkSync("../dir", world.place("d"));
    };
    expect(["conflict", "path_refused"]).toContain(await modifyAfter(workspace, "d/f", swap));
    expect(text(join(world.outside, "dir/f"))).toBe(canary);
  }));

test("a root that was renamed and replaced is the old one, or refused, never the new one", () =>
  inWorld(async (world) => {
    const { workspace } = await openFor(world);
    renameSync(world.project, join(world.outside, "moved"));
    symlinkSync("dir", world.project);
    const { said } = await act(workspace, "READ", "f");
    await act(workspace, "WRITE", "f");
    expect(said).not.toContain(canary);
    expect(text(join(world.outside, "dir/f"))).toBe(canary);
  }));

needs(rootUser).test("a file is written on a mount and moved across one, with its content", async () => {
  const program = join(import.meta.dir, "attack/on-mount.ts");
  const { stdout, stderr } = Bun.spawnSync(["unshare", "-m", "--propagation", "private", process.execPath, program]);
  expect(stderr.toString()).toBe("");
  const done = { written: false, moved: false, text: "fine\n" };
  expect(JSON.parse(stdout.toString())).toEqual(done);
});
