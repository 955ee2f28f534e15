/** New content is never taken for old: the tools that keep results by time of change see every change, and every way back. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { realpathSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { RelPath } from "../../src/core/path.ts";
import type { Transaction, Workspace } from "../../src/core/ports.ts";
import { newFolder } from "../grounds.ts";
import { type Need, needs } from "../needs.ts";
import { openBare } from "./bare.ts";

const answers = (...command: readonly string[]) => spawnSync(command[0] ?? "", command.slice(1)).status === 0;
/** A tool that runs: some have a stand-in in PATH that only says how to install it. */
const tool = (name: string): Need => ({ name, isHere: answers(name, "--version") });

interface Place {
  readonly root: string;
  readonly workspace: Workspace;
  readonly transaction: Transaction;
  readonly history: Awaited<ReturnType<typeof openBare>>["history"];
}

async function openPlace(files: Readonly<Record<string, string>>): Promise<Place> {
  const base = realpathSync(newFolder("disk", "fresh"));
  const root = join(base, "work");
  for (const [name, text] of Object.entries(files)) await Bun.write(join(root, name), text);
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], CARGO_HOME: process.env["CARGO_HOME"] };
  const { workspace, history } = await openBare(root, join(base, "state"), { env });
  const transaction = await workspace.begin({ id: "20261122-000000000-0001", task: "t" });
  return { root, workspace, transaction, history };
}

/** Replaces text of a file by text of the same length, as a run does. */
async function replace({ workspace, transaction }: Place, path: string, from: string, to: string): Promise<void> {
  const before = await workspace.read(path as RelPath);
  if (before?.kind !== "file") throw new Error(`${path} is not a file`);
  const bytes = new TextEncoder().encode(new TextDecoder().decode(before.bytes).replaceAll(from, to));
  expect(bytes.length).toBe(before.bytes.length);
  await transaction.apply([{ path: path as RelPath, before, after: { ...before, bytes }, from: null }]);
}

const run = ({ transaction }: Place, command: string) =>
  transaction.run(command, {
    by: "user",
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    // Tools of the checkout may lie where the sandbox hides them; what is tried here is time, not confinement.
    sandbox: "none",
  });

/** The tool keeps what it made, the file is replaced at once: the tool must see each new content, and the old one again. */
async function seesEveryChange(
  files: Readonly<Record<string, string>>,
  { path, command, rounds = 2 }: { readonly path: string; readonly command: string; readonly rounds?: number },
): Promise<void> {
  const place = await openPlace(files);
  const show = async () => (await run(place, command)).output.trim().split("\n").at(-1);
  expect(await show()).toBe("is 1");
  for (let round = 1; round < rounds; round += 1) {
    await replace(place, path, `is ${round}`, `is ${round + 1}`);
    expect(await show()).toBe(`is ${round + 1}`);
  }
  await place.transaction.rollback();
  const again = await place.workspace.begin({ id: "20261122-000000000-0002", task: "t" });
  expect((await run({ ...place, transaction: again }, command)).output.trim().split("\n").at(-1)).toBe("is 1");
}

const slow = 60_000;
const withBytecode = "env -u PYTHONDONTWRITEBYTECODE";

needs(tool("python3")).test(
  "python that keeps bytecode runs every new content",
  async () => {
    const command = `${withBytecode} python3 -c 'import m; print(m.text)'`;
    await seesEveryChange({ "m.py": 'text = "is 1"\n' }, { path: "m.py", command });
  },
  slow,
);

needs(tool("make")).test("make builds every new content", async () => {
  const files = { Makefile: "out: in\n\t@cp in out\n", in: "is 1\n" };
  await seesEveryChange(files, { path: "in", command: "make -s 2>/dev/null; cat out" });
});

test("every content of a path has a second of its own, later than the one before, also after undo and redo", async () => {
  const place = await openPlace({ "a.txt": "is 1\n" });
  const seconds = [Math.floor(statSync(join(place.root, "a.txt")).mtimeMs / 1000)];
  const note = () => seconds.push(Math.floor(statSync(join(place.root, "a.txt")).mtimeMs / 1000));
  for (let round = 1; round < 4; round += 1) {
    await replace(place, "a.txt", `is ${round}`, `is ${round + 1}`);
    note();
  }
  await place.transaction.close();
  await place.history.undo(null, { dryRun: false });
  note();
  await place.history.redo(null, { dryRun: false });
  note();
  expect(seconds).toEqual([...new Set(seconds)].sort((a, b) => a - b));
});

test("a file from the future is followed by one that is newer still", async () => {
  const place = await openPlace({ "a.txt": "is 1\n" });
  const future = Math.floor(Date.now() / 1000) + 1000;
  utimesSync(join(place.root, "a.txt"), future, future);
  await replace(place, "a.txt", "is 1", "is 2");
  expect(statSync(join(place.root, "a.txt")).mtimeMs / 1000).toBe(future + 1);
});
