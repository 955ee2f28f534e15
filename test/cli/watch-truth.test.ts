/** What a request is told of the time since the last turn: who changed what, and nothing that pai did as if it were another's. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { RelPath } from "../../src/core/path.ts";
import { modify, write } from "../flows/plans.ts";
import { openSession } from "./watched-session.ts";

const others = (names: string) => [`changed, not by you: ${names}`];
const undone = 'undone by the user: what you did for "do it"';
const back = 'brought back by the user: what you did for "do it"';
const now = { dryRun: false };
const steps = ["MODIFY b.txt"];
const script = modify("b.txt", ["b\n", "B\n"]);

/** Of a turn that is taken back, as its check fails. */
const taken = {
  options: { checks: ["false"], caps: { calls: 2, tokens: null, cost: null } },
  answers: ["yes", "no"],
  code: 13,
} as const;

/** A session with one turn, which changed b.txt and was shown other.txt. */
async function openTurn() {
  const session = await openSession();
  await session.play(steps, script, { mentioned: ["other.txt"] });
  return session;
}
type Session = Awaited<ReturnType<typeof openTurn>>;

test.each<[string, (at: Session["at"]) => void, string]>([
  ["writes a file that a turn changed", (at) => writeFileSync(at("b.txt"), "mine\n"), "b.txt"],
  ["writes a file that a turn was shown", (at) => writeFileSync(at("other.txt"), "mine\n"), "other.txt"],
  ["removes a file", (at) => rmSync(at("b.txt")), "b.txt (gone)"],
  ["makes a file executable", (at) => chmodSync(at("other.txt"), 0o755), "other.txt"],
  ["makes a file executable that a turn changed", (at) => chmodSync(at("b.txt"), 0o755), "b.txt"],
  [
    "makes a link in the place of a file",
    (at) => {
      rmSync(at("b.txt"));
      symlinkSync("other.txt", at("b.txt"));
    },
    "b.txt (a link to other.txt now)",
  ],
])("that somebody %s is told once, after a resume, too", async (_, change, names) => {
  const session = await openTurn();
  expect(await session.told()).toEqual([]);
  change(session.at);
  expect(await session.told()).toEqual(others(names));
  await session.resume();
  expect(await session.told()).toEqual(others(names));
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"));
  expect(await session.told()).toEqual([]);
});

test("what was told to a turn that was killed is not told again", async () => {
  const session = await openTurn();
  writeFileSync(session.at("other.txt"), "mine\n");
  expect(await session.told()).toEqual(others("other.txt"));
  await session.play([], "", { isKilled: true });
  await session.resume();
  expect(await session.told()).toEqual([]);
});

test("of a turn that was killed the next request is told what was taken back, once", async () => {
  const session = await openSession();
  await session.play(steps, script, { isKilled: true });
  session.pretend("rolled_back");
  writeFileSync(session.at("b.txt"), "b\n");
  expect(await session.told()).toEqual([]);
  const [told, ...more] = session.past();
  expect(more).toEqual([]);
  expect(told?.became).toBe("cut off, and what it had changed was taken back: b.txt");
  expect(told?.diff).toStartWith("what was taken back:\ndiff --git a/b.txt b/b.txt\n");
  expect(told?.diff).toContain("-b\n+B\n");
});

test("a turn of another process that was looked at before its end is no work of somebody else", async () => {
  const session = await openTurn();
  await session.play(steps, modify("b.txt", ["B\n", "c\n"]), { isBeside: true });
  expect(await session.told()).toEqual([]);
});

test("an undo and a redo are told, and their files are called no other's work, but what is written behind them is", async () => {
  const session = await openTurn();
  const { run } = await session.history.undo(null, now);
  expect(await session.told()).toEqual([undone]);
  await session.resume();
  expect(await session.told()).toEqual([undone]);
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"));
  expect(await session.told()).toEqual([]);
  await session.history.redo(run.id, now);
  expect(await session.told()).toEqual([back]);
  writeFileSync(session.at("b.txt"), "mine\n");
  expect(await session.told()).toEqual([back, ...others("b.txt")]);
});

test("two runs on one file that are undone together are called no other's work", async () => {
  const session = await openTurn();
  await session.play(steps, modify("b.txt", ["B\n", "c\n"]));
  for (let n = 0; n < 2; n += 1) await session.history.undo(null, now);
  expect(await session.told()).toEqual([undone, undone]);
});

test("an undo of a turn that a summary tells is told", async () => {
  const session = await openTurn();
  session.add({ type: "session.summarized", at: new Date().toISOString(), from: 1, summary: "b.txt was changed" });
  await session.history.undo(null, now);
  expect(await session.told()).toEqual([undone]);
});

test("a run that was rolled back is brought back by the user, and the session knows it", async () => {
  const session = await openSession();
  await session.play(steps, script, taken);
  expect(await session.told()).toEqual([]);
  await session.history.redo(null, now);
  expect(await session.told()).toEqual([back]);
});

test("what a rollback left since somebody had changed it is told as undone once the user undoes it", async () => {
  const session = await openSession();
  let asked = 0;
  const onQuestion = () => void (++asked === 2 && writeFileSync(session.at("b.txt"), "mine\nB\n"));
  await session.play(steps, script, { ...taken, onQuestion });
  expect(readFileSync(session.at("b.txt"), "utf8")).toBe("mine\nB\n");
  await session.told();
  writeFileSync(session.at("b.txt"), "B\n");
  await session.history.undo(null, now);
  expect(await session.told()).toContain(undone);
});

test("a command of the user that he undid is told as undone, and a run of nobody's session not as the model's work", async () => {
  const session = await openTurn();
  const change = async (id: string, task: string, text: string) => {
    const { workspace, at } = session;
    const path = "other.txt" as RelPath;
    const before = await workspace.read(path);
    const transaction = await workspace.begin({ id, task });
    await transaction.apply([
      { path, before, after: { kind: "file", bytes: Buffer.from(text), mode: 0o644 }, from: null },
    ]);
    await transaction.close();
    expect(readFileSync(at("other.txt"), "utf8")).toBe(text);
  };
  await change("r2", "!sed -i s/1/2/ other.txt", "by sed\n");
  await session.history.undo("r2", now);
  expect(await session.told()).toEqual(['undone by the user: what the command changed "!sed -i s/1/2/ other.txt"']);
  await change("r3", "set y", "by another\n");
  await session.told();
  await session.history.undo("r3", now);
  expect((await session.told()).at(-1)).toBe('undone by the user: what another run did for "set y"');
});

test("an undo while the next turn goes on is told once, and not as something that came behind that turn", async () => {
  const session = await openTurn();
  const undo = () => void session.history.undo("r1", now);
  await session.play(["WRITE d.txt"], write("d.txt", "d\n"), { onQuestion: undo });
  expect(await session.context()).toBe(`What has happened that you were not told yet:\n- ${undone}`);
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"));
  expect(await session.context()).toBeNull();
});

test("an undo while the last reply of a turn is awaited is told as that, and its file as nobody else's work", async () => {
  const session = await openTurn();
  const before = () => void session.history.undo("r1", now);
  await session.play(["WRITE d.txt"], write("d.txt", "d\n"), { before });
  expect(await session.told()).toEqual([undone]);
  await session.play(["WRITE e.txt"], write("e.txt", "e\n"));
  expect(await session.told()).toEqual([]);
});

test("files of turns are called no other's work when the conversation was taken back, twice and after a resume", async () => {
  const session = await openTurn();
  for (const [before, after] of [
    ["B\n", "c\n"],
    ["c\n", "d\n"],
  ] as const)
    await session.play(steps, modify("b.txt", [before, after]));
  for (const left of [2, 1]) await session.rewind(left);
  expect(await session.told()).toEqual([]);
  await session.resume();
  expect(await session.told()).toEqual([]);
});

test.each([true, false])(
  "what a turn, its command and its check make, and what is taken back, is no work of somebody else (kept: %s)",
  async (isKept) => {
    const session = await openSession(isKept);
    writeFileSync(session.at(".gitignore"), "dist/\n");
    mkdirSync(session.at("dist"));
    writeFileSync(session.at("dist/app.js"), "old\n");
    const build = "RUN echo new >dist/app.js";
    const checks = ["echo newer >>dist/app.js"];
    const way = { mentioned: ["dist/app.js"], options: { allowRun: true, checks } };
    await session.play(["WRITE c.txt", build], `${write("c.txt", "c\n")}${build.replace(" ", "::")}\n`, way);
    expect(await session.told()).toEqual([]);
    await session.play(steps, script, taken);
    expect(readFileSync(session.at("b.txt"), "utf8")).toBe("b\n");
    expect(await session.told()).toEqual([]);
    if (isKept) await session.resume();
    expect(await session.told()).toEqual([]);
    writeFileSync(session.at("dist/app.js"), "by hand\n");
    expect(await session.told()).toEqual(others("dist/app.js"));
  },
);

test("what somebody changed at a question is told with the turn's end and not once more", async () => {
  const session = await openTurn();
  const change = () => writeFileSync(session.at("other.txt"), "by hand\n");
  await session.play(steps, modify("b.txt", ["B\n", "c\n"]), { onQuestion: change, mentioned: ["other.txt"] });
  expect(await session.told()).toEqual([]);
  expect(session.past().at(-1)?.became).toContain("; somebody else changed meanwhile, too: other.txt");
});

test("what somebody changes while the last reply is awaited is told, of a file that an earlier turn was shown, too", async () => {
  const session = await openTurn();
  const change = () => writeFileSync(session.at("other.txt"), "by hand\n");
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"), { before: change });
  expect(await session.told()).toEqual(others("other.txt"));
  const more = () => writeFileSync(session.at("b.txt"), "by hand\n");
  await session.play(["WRITE d.txt"], write("d.txt", "d\n"), { before: more, mentioned: ["b.txt"] });
  expect(await session.told()).toEqual(others("b.txt"));
  await session.play(["WRITE e.txt"], write("e.txt", "e\n"));
  expect(await session.told()).toEqual([]);
});

test("of a file that an undo merged with somebody's line both are told", async () => {
  const session = await openSession();
  writeFileSync(session.at("b.txt"), "b\n2\n3\n");
  await session.play(steps, script);
  writeFileSync(session.at("b.txt"), "B\n2\nmine\n");
  await session.history.undo(null, { dryRun: false, merge: true });
  expect(await session.told()).toEqual([undone, ...others("b.txt")]);
  await session.play(["WRITE z.md"], write("z.md", "z\n"));
  expect(await session.told()).toEqual([]);
});

test("a file whose own lines somebody took out again before the undo is the undo's work", async () => {
  const session = await openSession();
  await session.play(["WRITE c.txt", "WRITE d.txt"], `${write("c.txt", "c\n")}${write("d.txt", "d\n")}`);
  writeFileSync(session.at("c.txt"), "c\nby hand\n");
  expect(await session.told()).toEqual(others("c.txt"));
  await session.play(["WRITE e.txt"], write("e.txt", "e\n"));
  writeFileSync(session.at("c.txt"), "c\n");
  const [, first] = session.history.list();
  await session.history.undo(first?.id ?? null, now);
  expect(await session.told()).toEqual([undone]);
});

test("a file of the project in a folder of a built name is told as others are, also behind a check", async () => {
  const session = await openSession();
  mkdirSync(session.at("bin"));
  writeFileSync(session.at("bin/run.sh"), "one\n");
  const before = () => writeFileSync(session.at("bin/run.sh"), "by hand\n");
  const way = { mentioned: ["bin/run.sh"], options: { checks: ["true"] }, before };
  await session.play(steps, script, way);
  expect(await session.told()).toEqual(others("bin/run.sh"));
});

test("what an undo left is no other's work to later requests, either", async () => {
  const session = await openTurn();
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"));
  await session.history.undo(null, now);
  expect(await session.told()).toEqual([undone]);
  for (const name of ["d.txt", "e.txt"]) {
    await session.play([`WRITE ${name}`], write(name, "d\n"));
    expect(await session.told()).toEqual([]);
    await session.resume();
  }
});

test("a file whose name holds a secret is not called gone", async () => {
  const session = await openSession();
  const name = "AIzaSyCanary-7Kq2Zr9Wm4Xt6Vb1Nf8Hd3Jg5.txt";
  writeFileSync(session.at(name), "text\n");
  await session.play(steps, script, { mentioned: [name] });
  expect(await session.told()).toEqual([]);
});

test("of a turn that the user undid and brought back what did not go with it is named", async () => {
  const session = await openSession();
  const all = `${write("n1.md", "1\n")}${write("n2.md", "2\n")}${script}`;
  await session.play(["WRITE n1.md", "WRITE n2.md", ...steps], all);
  rmSync(session.at("n1.md"));
  writeFileSync(session.at("b.txt"), "b\n");
  await session.history.undo(null, now);
  const missing = ", but for what somebody had changed or taken back before the undo: b.txt, n1.md";
  expect(await session.told()).toContain(`${undone}${missing}`);
  const became = `undone by the user: its own changes went back, and nothing else${missing};`;
  expect(session.past()[0]?.became).toStartWith(became);
  await session.play(["WRITE z.md"], write("z.md", "z\n"));
  await session.history.undo(null, now);
  const [, first] = session.history.list();
  await session.history.redo(first?.id ?? null, now);
  expect(await session.told()).toContain(`${back}${missing}`);
  expect(session.past()[0]?.became).toEndWith(`; brought back by the user since${missing}`);
});

test("an undo that finds nothing to take back is told as none: what was done by hand before it is", async () => {
  const session = await openSession();
  await session.play(["WRITE a.txt"], write("a.txt", "one\n"));
  rmSync(session.at("a.txt"));
  expect(await session.history.undo(null, now)).toMatchObject({ run: { id: "r1" }, changes: [] });
  expect(await session.told()).toEqual(others("a.txt (gone)"));
  expect(session.past()[0]?.became).toStartWith("kept: 1 file");
});

test("what a dry run would have changed is not called somebody else's work", async () => {
  const session = await openSession();
  await session.play([...steps, "WRITE a.txt"], script + write("a.txt", "a\n"), { options: { dryRun: true } });
  expect(await session.told()).toEqual([]);
});
