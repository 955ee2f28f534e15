/** MAP_ROOT, SNIFF_LOGS, DIAGNOSE, PROFILE on a real folder. */
import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diagnose, mapRoot, profile, sniffLogs } from "../../src/actions/project.ts";
import { isLogName } from "../../src/core/compressed.ts";
import { findStacks } from "../../src/core/context/stack.ts";
import { createOverlay, type Overlay } from "../../src/flows/stage.ts";
import { newFolder } from "../grounds.ts";
import { openBare } from "../workspace/bare.ts";

const { signal } = new AbortController();
let root = "";
let stage: Overlay;

beforeAll(async () => {
  root = newFolder("disk", "project");
  mkdirSync(join(root, "src"));
  mkdirSync(join(root, "logs"));
  writeFileSync(join(root, "package.json"), "{}");
  writeFileSync(join(root, "src/a.ts"), "");
  writeFileSync(join(root, "logs/app.log"), "ok\nERROR disk\nfine\n");
  const { workspace } = await openBare(root, null, { force: false });
  stage = createOverlay(workspace);
});

test("MAP_ROOT names the stack with the file that tells it, the usual folders and the files", async () => {
  expect(await mapRoot.propose({}, stage, signal)).toEqual({
    kind: "answer",
    text: "stack: Node.js (package.json)\nsrc/: a.ts\nfiles here: package.json",
  });
});

test("SNIFF_LOGS searches the logs of the folder and its log folders, newest first, and names them when it finds nothing", async () => {
  for (const [name, text, at] of [
    ["syslog", "old error\n", 1000],
    ["db.err", "Error newer\n", 2000],
    ["notes.txt", "error of no log\n", 3000],
    ["messages.d.ts", "error of code\n", 3000],
    ["app.log.ts", "error of code\n", 3000],
  ] as const) {
    writeFileSync(join(root, name), text);
    utimesSync(join(root, name), at, at);
  }
  writeFileSync(join(root, ".gitignore"), "logs/\n*.err\n");
  expect(await sniffLogs.propose({}, stage, signal)).toEqual({
    kind: "answer",
    text: "logs/app.log:2:ERROR disk\ndb.err:1:Error newer\nsyslog:1:old error",
  });
  const named = await sniffLogs.propose({ pattern: "logs/app.log" }, stage, signal);
  expect(named).toEqual({ kind: "answer", text: "logs/app.log:2:ERROR disk" });
  const none = await sniffLogs.propose({ pattern: "panic" }, stage, signal);
  expect(none).toEqual({ kind: "answer", text: "no panic in logs/app.log, db.err, syslog" });
  const one = await sniffLogs.propose({ path: "logs" }, stage, signal);
  expect(one).toEqual({ kind: "answer", text: "logs/app.log:2:ERROR disk" });
  const file = await sniffLogs.propose({ path: "notes.txt" }, stage, signal);
  expect(file).toEqual({ kind: "answer", text: "notes.txt:1:error of no log" });
  const bare = await sniffLogs.propose({ path: "src" }, stage, signal);
  expect(bare).toEqual({ kind: "answer", text: "no logs in src" });
});

test("SNIFF_LOGS keeps to the time that the request names, where lines have times", async () => {
  mkdirSync(join(root, "web"));
  const lines = ["2026-03-01T23:10:00 error a", "2026/03/02 13:00:00 [error] b", "error without a time"];
  writeFileSync(join(root, "web/access.log"), `${lines.join("\n")}\n`);
  const asked = { text: "what went wrong last night?", at: new Date(2026, 2, 2, 14) };
  const answer = await sniffLogs.propose({ path: "web" }, { ...stage, asked }, signal);
  expect(answer).toMatchObject({
    text: `web/access.log:1:${lines[0]}\nweb/access.log:3:${lines[2]}\n(1 more outside the time that the request names)`,
  });
});

test("a log is known by its name, also an older one", () => {
  const logs = `syslog syslog.1 syslog.2.gz messages messages-20261101 mail.err mail.info.1 kern.log app.log app.log.2.zst
    app.log-20261101.gz app.log.old app.2026-11-01.log access_log error_log-20261101 catalina.out db.err Error.LOG`;
  const others =
    "messages.d.ts message.json app.log.ts mail.py auth.conf cron.d boot.cfg errors.go logger.err.md secure.pem";
  const isLog = (name: string) => isLogName(name);
  expect(logs.split(/\s+/).filter((name) => !isLog(name))).toEqual([]);
  expect(others.split(" ").filter(isLog)).toEqual([]);
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

test("a project may be several", () => {
  expect(findStacks(new Set(["artisan", "composer.json"])).map(({ name }) => name)).toEqual(["Laravel", "PHP"]);
});
