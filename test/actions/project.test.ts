/** MAP_ROOT, SNIFF_LOGS, DIAGNOSE, PROFILE on a real folder. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diagnose, mapRoot, profile, sniffLogs } from "../../src/actions/project.ts";
import { findStacks } from "../../src/core/context/stack.ts";
import { createOverlay, type Overlay } from "../../src/flows/stage.ts";
import { openBare } from "../workspace/bare.ts";

const { signal } = new AbortController();
let root = "";
let stage: Overlay;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "pai-project-"));
  mkdirSync(join(root, "src"));
  mkdirSync(join(root, "logs"));
  writeFileSync(join(root, "package.json"), "{}");
  writeFileSync(join(root, "src/a.ts"), "");
  writeFileSync(join(root, "logs/app.log"), "ok\nERROR disk\nfine\n");
  const { workspace } = await openBare(root, null, { force: false });
  stage = createOverlay(workspace);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

test("MAP_ROOT names the stack with the file that tells it, the usual folders and the files", async () => {
  expect(await mapRoot.propose({}, stage, signal)).toEqual({
    kind: "answer",
    text: "stack: Node.js (package.json)\nsrc/: a.ts\nfiles here: package.json",
  });
});

test("SNIFF_LOGS finds errors in the log folders, in any case, and says when there are none", async () => {
  expect(await sniffLogs.propose({}, stage, signal)).toEqual({ kind: "answer", text: "logs/app.log:2:ERROR disk" });
  const none = await sniffLogs.propose({ pattern: "panic" }, stage, signal);
  expect(none).toMatchObject({ kind: "answer", text: expect.stringContaining("no panic in logs") });
});

test("PROFILE takes a script inside the project, quoted, and refuses one outside", async () => {
  const proposal = await profile.propose({ path: "it's.py" }, stage, signal);
  expect(proposal).toMatchObject({ kind: "command", command: expect.stringContaining(`'./it'\\''s.py'`) });
  await expect(profile.propose({ path: "../x.py" }, stage, signal)).rejects.toMatchObject({ code: "path_refused" });
});

test("DIAGNOSE looks at the machine, and its answer counts as foreign; without a machine it complains", async () => {
  const asked: string[] = [];
  const host = async (text: string) => asked.push(text).toString();
  expect(diagnose.kind).toBe("look");
  const answer = await diagnose.propose({ pattern: "ports", path: "22" }, { ...stage, host }, signal);
  expect(answer).toEqual({ kind: "answer", text: "1", foreign: true });
  expect(asked).toEqual(["ports 22"]);
  const { host: _, ...past } = stage;
  expect(await diagnose.propose({}, past, signal)).toMatchObject({ kind: "complaint" });
});

test("one file is not enough where a stack needs two, and a project may be several", () => {
  expect(findStacks(new Set(["artisan"]))).toEqual([]);
  expect(findStacks(new Set(["artisan", "composer.json"])).map(({ name }) => name)).toEqual(["Laravel", "PHP"]);
});
