/** COPY: one row of the vocabulary and one `propose`; everything else follows from these. */
import { beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { copy } from "../../src/actions/change.ts";
import { createOverlay } from "../../src/flows/stage.ts";
import type { OpenedWorkspace } from "../../src/workspace/open.ts";
import { finish, modify, plan } from "../flows/plans.ts";
import { placeFiles, play } from "../flows/scripted.ts";
import { newFolder } from "../grounds.ts";
import { openBare } from "../workspace/bare.ts";

let base = "";
let root = "";
let opened: OpenedWorkspace;
const { signal } = new AbortController();

const place = (files: Readonly<Record<string, string>>) => placeFiles(root, files);
const read = (path: string) => readFileSync(join(root, path), "utf8");

beforeEach(async () => {
  base = newFolder("disk", "copy");
  root = join(base, "work");
  mkdirSync(root);
  opened = await openBare(root, join(base, "state"), { force: false });
});

const propose = (from: string, to: string) => copy.propose({ from, to }, createOverlay(opened.workspace), signal);

async function apply(from: string, to: string): Promise<void> {
  const proposal = await propose(from, to);
  if (proposal.kind !== "change") throw new Error(JSON.stringify(proposal));
  const transaction = await opened.workspace.begin({ id: "r1", task: "copy" });
  await transaction.apply(proposal.changes);
  await transaction.close();
}

test("a file is copied with its mode into folders that are made, and undo removes all of it", async () => {
  place({ "run.sh": "echo 1\n" });
  chmodSync(join(root, "run.sh"), 0o755);
  await apply("run.sh", "deep/er/run2.sh");
  expect(read("deep/er/run2.sh")).toBe("echo 1\n");
  expect(statSync(join(root, "deep/er/run2.sh")).mode & 0o777).toBe(0o755);
  await opened.history.undo(null, { dryRun: false });
  expect(existsSync(join(root, "deep"))).toBe(false);
  expect(read("run.sh")).toBe("echo 1\n");
});

test("a folder is copied with everything below it", async () => {
  place({ "a/one.txt": "1", "a/b/two.txt": "2" });
  await apply("a", "c");
  expect(read("c/one.txt")).toBe("1");
  expect(read("c/b/two.txt")).toBe("2");
  expect(read("a/b/two.txt")).toBe("2");
});

test("a source that is missing, a destination that exists, and a folder into itself are complaints", async () => {
  place({ "a.txt": "1", "b.txt": "2", "d/x": "x", "same.txt": "1" });
  for (const [from, to, text] of [
    ["none.txt", "c.txt", "none.txt does not exist"],
    ["a.txt", "b.txt", "b.txt exists: nothing is copied over it"],
    ["d", "d/e", "d cannot be copied into itself"],
  ] as const)
    expect(await propose(from, to)).toMatchObject({ kind: "complaint", text });
  expect(await propose("a.txt", "same.txt")).toMatchObject({ kind: "change", changes: [] });
});

test("neither source nor destination may be denied, nor anything inside a folder", async () => {
  place({ ".env": "KEY=1\n", "conf/.env": "KEY=1\n", "a.txt": "1" });
  for (const [from, to] of [
    [".env", "env.txt"],
    ["a.txt", ".git/hooks/pre-commit"],
    ["a.txt", ".env"],
    ["conf", "conf2"],
    ["../outside", "b.txt"],
  ] as const)
    await expect(propose(from, to)).rejects.toMatchObject({ code: "path_refused" });
});

const files = { "a.py": "x = 1\n", ".env": "KEY=1\n" };

test("the plan's right is to the destination alone: another copy of the same file is refused", async () => {
  const script = `COPY::a.py::b.py\n${modify("b.py", ["x = 1\n", "x = 2\n"])}COPY::a.py::c.py\n${finish()}`;
  const ran = await play({ files, lines: [plan({ steps: ["COPY a.py -> b.py"] }), script, finish()] });
  expect(ran.files).toEqual({ ...files, "b.py": "x = 2\n" });
  const finished = ran.eventsOf("call.finished").map(({ target, text }) => `${target}: ${text}`);
  expect(finished).toContain("a.py → b.py: copied from a.py");
  expect(finished).toContain("a.py → c.py: the plan does not promise to change c.py");
  expect(ran.asked(1)).toContain('<file path="a.py">');
});

test("a plan that copies from a denied path costs no execution call", async () => {
  const ran = await play({ files, lines: [plan({ steps: ["COPY .env -> b.txt"] })] });
  expect(ran.outcome).toMatchObject({ code: 12, error: { code: "path_refused" } });
});

test("a copy is content for --only, and in a cut reply it is done, as it takes nothing away", async () => {
  const steps = ["COPY a.py -> b.py"];
  const kept = await play({ files, options: { only: [["lib/**"]] }, lines: [plan({ steps })] });
  expect(kept.outcome.error?.code).toBe("scope_refused");
  const cut = await play({
    files,
    lines: [plan({ steps }), { text: "COPY::a.py::b.py\nFINI", stop: "length" }, finish()],
  });
  expect(cut.files).toMatchObject({ "b.py": "x = 1\n" });
});
