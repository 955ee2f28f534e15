/** Undo and redo in the built binary: runs, single files, and the owners of what comes back. */
import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs, otherUser } from "../../needs.ts";
import { readCommand, readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, hello, modify, planned, talked, write } from "../replies.ts";

const byOther = needs(otherUser).test.concurrent;

const change = [planned(["MODIFY a.txt"]), done(modify("a.txt", "one\n", "two\n"))];
const files = { "a.txt": "one\n" };

test.concurrent("undo and redo turn the newest run around and say what they did (R29)", async () => {
  await using place = openPlace([...hello, ...change], files);
  const first = readOutcome(await place.pai(["run", "-y", "--json", "make hello.txt"]));
  const second = readOutcome(await place.pai(["run", "-y", "--json", "change a.txt"]));
  expect(place.tree()).toEqual({ "a.txt": "two\n", "hello.txt": "hello\n" });

  const undone = readCommand(await place.pai(["undo", "-y", "--json"]));
  expect(undone).toMatchObject({ command: "undo", data: { run: second.run, dry_run: false } });
  expect(place.tree()).toEqual({ "a.txt": "one\n", "hello.txt": "hello\n" });
  expect(readCommand(await place.pai(["undo", "-y", "--json"]))).toMatchObject({ data: { run: first.run } });
  expect(place.tree()).toEqual(files);
  const none = readCommand(await place.pai(["undo", "-y", "--json"]));
  expect([none.code, none.error?.code]).toEqual([1, "nothing_to_undo"]);

  expect(readCommand(await place.pai(["redo", "-y", "--json"]))).toMatchObject({ data: { run: first.run } });
  const redone = await place.pai(["redo", "-y"]);
  expect(redone).toMatchObject({ code: 0, stderr: "" });
  expect(redone.stdout).toContain(`redone run ${second.run}`);
  expect(place.tree()).toEqual({ "a.txt": "two\n", "hello.txt": "hello\n" });
  expect(readCommand(await place.pai(["redo", "-y", "--json"])).code).toBe(1);
});

test.concurrent("undo and redo need a yes, change nothing in a dry run, and take a prefix of the id", async () => {
  await using place = openPlace(hello);
  const { run } = readOutcome(await place.pai(["run", "-y", "--json", "make hello.txt"]));
  const asked = readCommand(await place.pai(["undo", "--json"]));
  expect([asked.code, asked.error?.code]).toEqual([10, "approval_needed"]);
  expect(asked.error?.hint).toContain(`pai undo -y ${run}`);
  expect(readCommand(await place.pai(["undo", "-n", "--json"]))).toMatchObject({ data: { dry_run: true } });
  expect(place.read("hello.txt")).toBe("hello\n");
  expect((await place.pai(["undo", "-y", "no-such-run"])).code).not.toBe(0);
  expect((await place.pai(["undo", "-y", String(run).slice(0, 10)])).code).toBe(0);
  expect(place.tree()).toEqual({});
});

test.concurrent("undo of a file that was changed since is refused with 11, and nothing is touched", async () => {
  await using place = openPlace(hello);
  await place.pai(["run", "-y", "make hello.txt"]);
  writeFileSync(join(place.root, "hello.txt"), "mine\n");
  expect(readCommand(await place.pai(["undo", "-y", "--json"]))).toMatchObject({
    code: 11,
    error: { code: "conflict" },
  });
  const { stderr } = await place.pai(["undo", "-y"]);
  expect(stderr).toMatch(/\+ mine.*nothing was touched; the diff above .* pai undo \d{8}-/s);
  expect(place.read("hello.txt")).toBe("mine\n");
});

test.concurrent("undo is merged with --merge when other lines were changed since, and redone; touched lines show both sides", async () => {
  const before = { "a.txt": "one\n2\n3\n" };
  await using place = openPlace(change, before);
  await place.pai(["run", "-y", "change a.txt"]);
  writeFileSync(join(place.root, "a.txt"), "two\n2\nmine\n");
  const refused = await place.pai(["undo", "-y"]);
  expect(refused.code).toBe(11);
  expect(refused.stderr.replaceAll("\n", " ")).toMatch(/to keep both: pai undo \d{8}-\S+ --merge/);
  const undone = readCommand(await place.pai(["undo", "-y", "--merge", "--json"]));
  expect(undone).toMatchObject({ code: 0, data: { merged: ["a.txt"] } });
  expect(place.read("a.txt")).toBe("one\n2\nmine\n");
  expect((await place.pai(["redo", "-y"])).code).toBe(0);
  expect(place.read("a.txt")).toBe("two\n2\nmine\n");
  writeFileSync(join(place.root, "a.txt"), "three\n2\nmine\n");
  const { code, stderr } = await place.pai(["undo", "-y", "--merge"]);
  expect([code, place.read("a.txt")]).toEqual([11, "three\n2\nmine\n"]);
  expect(stderr).toContain(
    "a.txt, from line 1 on, what was written since:\n  │ three\nwhat the undo would write:\n  │ one\n",
  );
});

test.concurrent("the diffs of undo and of a saved plan have the colours of code, as those of a run", async () => {
  const keyword = "\x1b[35mconst\x1b[39m";
  const color = { env: { FORCE_COLOR: "1" } };
  const script = [planned(["WRITE a.ts"]), done(write("a.ts", "const a = 1;\n"))];
  await using place = openPlace([...script, ...script]);
  expect((await place.pai(["run", "-y", "make a.ts"], color)).stderr).toContain(keyword);
  expect((await place.pai(["undo", "-n"])).stdout).not.toContain("\x1b");
  await place.pai(["undo", "-y"]);
  expect((await place.pai(["redo", "-n"], color)).stdout).toContain(keyword);
  await place.pai(["plan", "--full", "-o", "../plan.json", "make a.ts"]);
  expect((await place.pai(["apply", "-y", "../plan.json"], color)).stderr).toContain(keyword);
});

test.concurrent("a plan file made to do more than its plan says is refused, whatever its hash", async () => {
  await using place = openPlace(change, files);
  await place.pai(["plan", "--full", "-o", "../spare/full.json", "change a.txt"]);
  const { hash: _, ...honest } = JSON.parse(readFileSync(join(place.spare, "full.json"), "utf8"));
  const [first] = honest.changes;
  for (const [code, changes, base] of [
    [12, [...honest.changes, { ...first, path: "b.txt", op: "create", before: null }], honest.base],
    [12, [{ ...first, path: "../outside.txt", op: "create", before: null }], honest.base],
    [12, [{ ...first, path: ".git/hooks/pre-commit", op: "create", before: null }], honest.base],
    [12, [{ ...first, op: "delete", after_base64: null }], honest.base],
    [12, honest.changes, [...honest.base, { path: "../../etc/passwd", sha256: null, mode: null }]],
    [2, [{ ...first, mode: 1e18 }], honest.base],
    [2, [{ ...first, mode: -1 }], honest.base],
    [2, [{ ...first, after_base64: "!!!" }], honest.base],
  ] as const) {
    const forged = { ...honest, changes, base };
    const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(forged)).digest("hex");
    writeFileSync(join(place.spare, "forged.json"), JSON.stringify({ ...forged, hash }));
    const outcome = readOutcome(await place.pai(["apply", "-y", "--json", "../spare/forged.json"]));
    expect([forged.changes, outcome.code]).toEqual([forged.changes, code]);
    expect(place.tree()).toEqual(files);
  }
});

test.concurrent("a plan file's checks are shown before the yes, as nobody typed them here", async () => {
  await using place = openPlace(change, files);
  await place.pai(["plan", "--full", "--check", "touch ran", "-o", "../spare/p.json", "change a.txt"]);
  const { code, stdout } = await place.pai(["apply", "../spare/p.json"]);
  expect([code, stdout.includes("touch ran"), place.tree()]).toEqual([10, true, files]);
  const run = async (...more: readonly string[]) =>
    readOutcome(await place.pai(["apply", "-y", "--json", ...more, "../spare/p.json"]));
  expect((await run()).checks).toMatchObject([{ command: "touch ran", by: "plan", passed: null }]);
  await place.pai(["undo", "-y"]);
  expect((await run("--check", "touch ran")).checks).toMatchObject([{ by: "user", passed: true }]);
});

test.concurrent("--only narrows a saved plan: 12 before any call; a conversation has no plan to save", async () => {
  await using place = openPlace([...change.slice(0, 1), talked("Nothing to do.")], files);
  await place.pai(["plan", "-o", "../spare/p.json", "change a.txt"]);
  const outcome = readOutcome(await place.pai(["apply", "-y", "--json", "--only", "b/**", "../spare/p.json"]));
  expect([outcome.code, outcome.error?.code, place.gemini.requests.length]).toEqual([12, "scope_refused", 1]);
  expect((await place.pai(["plan", "-o", "../spare/p.json", "just talk"])).code).toBe(8);
});

byOther("a deleted file that comes back keeps its group where the user is in it, else its owner is told", async () => {
  const answers = [planned(["RM a.txt", "RM b.txt"]), done("RM::a.txt\nRM::b.txt\n")];
  await using place = openPlace(answers, { "a.txt": "one\n", "b.txt": "two\n" });
  const as = 'HOME=/tmp/none setpriv --reuid=65534 --regid=65534 --groups=33 "$PAI"';
  const own = "chmod 755 .. .; chown 65534:65534 .; chown 65534:33 a.txt; chown 65534:34 b.txt";
  expect(readOutcome(await place.shell(`${own}; ${as} run -y --json --allow-delete "remove both"`)).code).toBe(0);
  const undone = await place.shell(`${as} undo -y`);
  expect([undone.code, place.tree()]).toEqual([0, { "a.txt": "one\n", "b.txt": "two\n" }]);
  expect(["a.txt", "b.txt"].map((name) => statSync(`${place.root}/${name}`).gid)).toEqual([33, 65534]);
  const why = "b.txt belonged to a group that you are not in (gid 34) and belongs to you now: only root gives it back";
  expect([undone.stdout.includes(why), undone.stdout.includes("a.txt belonged")]).toEqual([true, false]);
});

byOther("a member of its group changes another's file and takes that back: owner and group stay", async () => {
  const answers = [planned(["MODIFY a.txt"]), done(modify("a.txt", "one\n", "two\n"))];
  await using place = openPlace(answers, { "a.txt": "one\n" });
  const as = 'HOME=/tmp/none setpriv --reuid=65534 --regid=65534 --groups=33 "$PAI"';
  const own = "chmod 755 ..; chown 1234:33 . a.txt; chmod 2775 .; chmod 664 a.txt";
  const whose = () => {
    const { uid, gid } = statSync(`${place.root}/a.txt`);
    return [uid, gid, place.read("a.txt")];
  };
  const ran = readOutcome(await place.shell(`${own}; ${as} run -y --json "change it"`));
  expect([ran.code, ran.error, whose()]).toEqual([0, null, [1234, 33, "two\n"]]);
  expect([(await place.shell(`${as} undo -y`)).code, whose()]).toEqual([0, [1234, 33, "one\n"]]);
});

test.concurrent("where nothing of a run is left, an undo and a redo ask nothing and say so", async () => {
  await using place = openPlace(change, files);
  const { run } = readOutcome(await place.pai(["run", "-y", "--json", "change a.txt"]));
  writeFileSync(join(place.root, "a.txt"), "one\n");
  for (const [kind, how] of Object.entries({ undo: "take", redo: "bring" })) {
    const stdout = `nothing of run ${run} is left to ${how} back: change a.txt\n`;
    expect(await place.pai([kind])).toEqual({ code: 0, stderr: "", stdout });
  }
  expect(place.tree()).toEqual(files);
});
