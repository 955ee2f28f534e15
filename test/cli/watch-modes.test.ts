/** What somebody does to modes, folders and links of a turn behind it is told to the next request, and an undo is not. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { modify, write } from "../flows/plans.ts";
import { openSession, type Watched } from "./watched-session.ts";

const tool = ["WRITE a.sh", "MODE a.sh -> 755"];
const makeTool = ({ play }: Watched) => play(tool, `${write("a.sh", "true\n")}MODE::a.sh::755\n`);
const others = (names: string) => [`changed, not by you: ${names}`];

test("a file that a turn made executable and somebody made plain is told, after a resume and a turn that edits it, too", async () => {
  const session = await openSession();
  await makeTool(session);
  expect(await session.told()).toEqual([]);
  session.resume();
  expect(await session.told()).toEqual([]);
  await session.play(["MODIFY a.sh"], modify("a.sh", ["true\n", "false\n"]));
  expect(await session.told()).toEqual([]);
  chmodSync(session.at("a.sh"), 0o644);
  expect(await session.told()).toEqual(others("a.sh (not executable now)"));
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]));
  expect(await session.told()).toEqual([]);
});

test("the mode of a file that a turn was only shown is known, too", async () => {
  const session = await openSession();
  chmodSync(session.at("other.txt"), 0o755);
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]), { mentioned: ["other.txt"] });
  chmodSync(session.at("other.txt"), 0o644);
  expect(await session.told()).toEqual(others("other.txt (not executable now)"));
});

test("what was told to a turn that was killed is not told again", async () => {
  const session = await openSession();
  await makeTool(session);
  chmodSync(session.at("a.sh"), 0o644);
  expect(await session.told()).toEqual(others("a.sh (not executable now)"));
  await session.play([], "", { isKilled: true });
  session.resume();
  expect(await session.told()).toEqual([]);
});

test("a turn of another process that was looked at before its end is no work of somebody else", async () => {
  const session = await openSession();
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]));
  await session.play(["MODIFY b.txt"], modify("b.txt", ["B\n", "c\n"]), { isBeside: true });
  expect(await session.told()).toEqual([]);
});

test("a file that a turn wrote and somebody made executable is told, and so is what makes it plain again", async () => {
  const session = await openSession();
  await session.play(["WRITE a.sh"], write("a.sh", "true\n"));
  expect(await session.told()).toEqual([]);
  chmodSync(session.at("a.sh"), 0o755);
  expect(await session.told()).toEqual(others("a.sh (executable now)"));
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]));
  expect(await session.told()).toEqual([]);
  chmodSync(session.at("a.sh"), 0o644);
  writeFileSync(session.at("a.sh"), "false\n");
  expect(await session.told()).toEqual(others("a.sh (another text, not executable now)"));
});

test("a turn that makes a file plain again, and an undo of it, are no work of somebody else", async () => {
  const session = await openSession();
  await makeTool(session);
  await session.play(["MODE a.sh -> 644"], "MODE::a.sh::644\n");
  expect(await session.told()).toEqual([]);
  await session.history.undo(null, { dryRun: false });
  expect(await session.told()).toEqual(['undone by the user: what you did for "do it"']);
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]));
  expect(await session.told()).toEqual([]);
  chmodSync(session.at("a.sh"), 0o644);
  expect(await session.told()).toEqual(others("a.sh (not executable now)"));
});

test("files that no turn touched are told when somebody makes them or brings them in, after a resume, too", async () => {
  const session = await openSession();
  const written = (names: string) => [`new or written, not by you: ${names}`];
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]));
  expect(await session.told()).toEqual([]);
  // The file system counts time in steps.
  await Bun.sleep(20);
  writeFileSync(session.at("new.txt"), "new\n");
  expect(await session.told()).toEqual(written("new.txt"));
  session.resume();
  writeFileSync(session.at("moved.txt"), "moved\n");
  utimesSync(session.at("moved.txt"), 1, 1);
  expect(await session.told()).toEqual(written("moved.txt, new.txt"));
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"));
  expect(await session.told()).toEqual([]);
  await session.history.undo(null, { dryRun: false });
  expect(await session.told()).toEqual(['undone by the user: what you did for "do it"']);
});

test("a file that was told as new, and shown, to a turn that is taken back is told anew", async () => {
  const session = await openSession();
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]));
  await session.told();
  await Bun.sleep(20);
  writeFileSync(session.at("new.txt"), "new\n");
  const told = ["new or written, not by you: new.txt"];
  expect(await session.told()).toEqual(told);
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"), { mentioned: ["new.txt"] });
  expect(await session.told()).toEqual([]);
  session.rewind(1);
  expect(await session.told()).toEqual(told);
});

test("a mode that somebody set before a turn that is taken back is theirs alone", async () => {
  const session = await openSession();
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]));
  chmodSync(session.at("b.txt"), 0o755);
  await session.play(["MODIFY b.txt"], modify("b.txt", ["B\n", "BB\n"]));
  await session.history.undo(null, { dryRun: false });
  session.rewind(1);
  expect(await session.told()).toEqual(others("b.txt (executable now)"));
});

test("a file that was told as new is told as gone, and where its folder was moved with its new place", async () => {
  const session = await openSession();
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]));
  await session.told();
  await Bun.sleep(20);
  mkdirSync(session.at("lib"));
  for (const name of ["new.txt", "lib/a.txt"]) writeFileSync(session.at(name), `${name}\n`);
  expect(await session.told()).toEqual(["new or written, not by you: lib/a.txt, new.txt"]);
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"));
  rmSync(session.at("new.txt"));
  renameSync(session.at("lib"), session.at("lib2"));
  expect(await session.told()).toEqual(
    others("lib/a.txt (no file now; lib2/a.txt holds the same), new.txt (no file now)"),
  );
});

test("what somebody changed at a question, and the same turn was told of, is told with its end and not once more", async () => {
  const session = await openSession();
  const change = () => writeFileSync(session.at("other.txt"), "by hand\n");
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]), { onQuestion: change });
  expect(await session.told()).toEqual([]);
  expect(session.past().at(-1)?.became).toContain("; somebody else changed meanwhile, too: other.txt");
  writeFileSync(session.at("other.txt"), "more\n");
  expect(await session.told()).toEqual(others("other.txt"));
});

test("an undo while the next turn goes on is told once, and not as something that came behind that turn", async () => {
  const session = await openSession();
  await makeTool(session);
  const undo = () => void session.history.undo("r1", { dryRun: false });
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "B\n"]), { onQuestion: undo });
  expect(await session.context()).toBe(
    'What has happened that you were not told yet:\n- undone by the user: what you did for "do it"',
  );
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"));
  expect(await session.context()).toBeNull();
});

test("a file that somebody makes while a turn works is told with the next request, once, also after a resume", async () => {
  const session = await openSession();
  for (const [name, goOn] of [
    ["first.txt", () => {}],
    ["then.txt", session.resume],
  ] as const) {
    const make = () => {
      // The file system counts time in steps.
      Bun.sleepSync(20);
      writeFileSync(session.at(name), "by hand\n");
    };
    await session.play(["WRITE a.txt"], write("a.txt", `for ${name}\n`), { onQuestion: make });
    goOn();
    expect(await session.told()).toEqual([`new or written, not by you: ${name}`]);
    await session.play(["WRITE c.txt"], write("c.txt", `${name}\n`));
    expect(await session.told()).toEqual([]);
  }
});

test.each([true, false])(
  "what a turn, its command and its check make, and what is taken back, is no work of somebody else (kept: %s)",
  async (isKept) => {
    const session = await openSession(isKept);
    // No request shows it, so that nobody watches it.
    writeFileSync(session.at("raw.bin"), "\0");
    const steps = ["WRITE c.txt", "RUN touch made.txt"];
    const script = `${write("c.txt", "c\n")}RUN::touch made.txt\n`;
    const options = { allowRun: true, checks: ["touch checked.txt"] };
    await session.play(steps, script, { options });
    expect(await session.told()).toEqual([]);
    await session.play(["RM raw.bin"], "RM::raw.bin\n", {
      ...{
        options: { checks: ["false"], caps: { calls: 2, tokens: null, cost: null } },
        answers: ["yes", "no"],
        code: 13,
      },
    });
    expect(readFileSync(session.at("raw.bin"), "utf8")).toBe("\0");
    expect(await session.told()).toEqual([]);
    if (isKept) session.resume();
    expect(await session.told()).toEqual([]);
  },
);

test("an ignored file that a request showed and a command of the turn wrote is no work of somebody else", async () => {
  const session = await openSession();
  writeFileSync(session.at(".gitignore"), "dist/\n");
  mkdirSync(session.at("dist"));
  writeFileSync(session.at("dist/app.js"), "old\n");
  const mentioned = ["dist/app.js"];
  const build = "RUN echo new >dist/app.js";
  await session.play(["WRITE c.txt", build], `${write("c.txt", "c\n")}${build.replace(" ", "::")}\n`, {
    ...{ mentioned, options: { allowRun: true } },
  });
  expect(session.past().at(-1)?.became).toContain("commands changed ignored paths, which stay so: dist");
  expect(await session.told()).toEqual([]);
  session.resume();
  expect(await session.told()).toEqual([]);
  writeFileSync(session.at("dist/app.js"), "by hand\n");
  expect(await session.told()).toEqual(others("dist/app.js"));
});

test("a built file that an earlier request showed and a check wrote is no work of somebody else", async () => {
  const session = await openSession();
  mkdirSync(session.at("dist"));
  writeFileSync(session.at(".gitignore"), "dist/\n");
  writeFileSync(session.at("dist/app.js"), "old\n");
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"), { mentioned: ["dist/app.js"] });
  session.resume();
  await session.play(["WRITE d.txt"], write("d.txt", "d\n"), { options: { checks: ["echo new >dist/app.js"] } });
  expect(readFileSync(session.at("dist/app.js"), "utf8")).toBe("new\n");
  expect(await session.told()).toEqual([]);
  writeFileSync(session.at("dist/app.js"), "by hand\n");
  expect(await session.told()).toEqual(others("dist/app.js"));
});

test("a folder that a turn made and somebody removed is told, and one that somebody made in place of a file", async () => {
  const session = await openSession();
  await session.play(["MKDIR data", "WRITE c.txt"], `MKDIR::data\n${write("c.txt", "c\n")}`);
  expect(await session.told()).toEqual([]);
  rmdirSync(session.at("data"));
  rmSync(session.at("c.txt"));
  mkdirSync(session.at("c.txt"));
  expect((await session.told()).join()).toContain("data/ (no folder now)");
  expect((await session.told()).join()).toContain("c.txt (a folder now)");
});

test("a folder that a turn made and the user undid is told as undone alone", async () => {
  const session = await openSession();
  await session.play(["WRITE data/c.txt"], write("data/c.txt", "c\n"));
  await session.history.undo(null, { dryRun: false });
  expect(await session.told()).toEqual(['undone by the user: what you did for "do it"']);
});

test("a file that a redo brought back, or an undo took, is told where somebody took or made it again since", async () => {
  const session = await openSession();
  const at = session.at("c.txt");
  await session.play(["WRITE c.txt"], write("c.txt", "c\n"));
  const { run } = await session.history.undo(null, { dryRun: false });
  await session.play(["WRITE n1.md"], write("n1.md", "1\n"));
  await session.history.redo(run.id, { dryRun: false });
  rmSync(at);
  expect((await session.told()).slice(-1)).toEqual(["changed by somebody else, too: c.txt (no file now)"]);
  writeFileSync(at, "c\n");
  expect(await session.told()).toEqual(['brought back by the user: what you did for "do it"']);
  await session.play(["WRITE n2.md"], write("n2.md", "2\n"));
  await session.history.undo(run.id, { dryRun: false });
  writeFileSync(at, "c\n");
  expect((await session.told()).slice(-1)).toEqual(["changed by somebody else, too: c.txt"]);
});

test("of a turn that the user undid and brought back what did not go with it is named", async () => {
  const session = await openSession();
  const steps = ["WRITE n1.md", "WRITE n2.md", "MODIFY b.txt"];
  const script = `${write("n1.md", "1\n")}${write("n2.md", "2\n")}${modify("b.txt", ["b\n", "B\n"])}`;
  await session.play(steps, script);
  rmSync(session.at("n1.md"));
  writeFileSync(session.at("b.txt"), "b\n");
  await session.history.undo(null, { dryRun: false });
  const missing = ", but for what somebody had changed or taken back before the undo: b.txt, n1.md";
  expect(await session.told()).toContain(`undone by the user: what you did for "do it"${missing}`);
  expect(session.past()[0]?.became).toStartWith(
    `undone by the user: its own changes went back, and nothing else${missing};`,
  );
  await session.play(["WRITE z.md"], write("z.md", "z\n"));
  await session.history.undo(null, { dryRun: false });
  const [, first] = session.history.list();
  await session.history.redo(first?.id ?? null, { dryRun: false });
  expect(await session.told()).toContain(`brought back by the user: what you did for "do it"${missing}`);
  expect(session.past()[0]?.became).toEndWith(`; brought back by the user since${missing}`);
});

test("a link that a turn made in the place of the file that it moved away is its own", async () => {
  const session = await openSession();
  const script = "MV::b.txt::d/b.txt\nLINK::b.txt::d/b.txt\n";
  await session.play(["MV b.txt -> d/b.txt", "LINK b.txt -> d/b.txt"], script);
  expect(await session.told()).toEqual([]);
});

test("a link that somebody makes in the place of a file that a turn moved away is told", async () => {
  const session = await openSession();
  await session.play(["MV b.txt -> d.txt"], "MV::b.txt::d.txt\n");
  symlinkSync("d.txt", session.at("b.txt"));
  expect((await session.told()).join()).toContain("b.txt (a link to d.txt now)");
});

test("a link that a turn made and somebody let lead elsewhere is told", async () => {
  const session = await openSession();
  writeFileSync(session.at("d.txt"), "d\n");
  await session.play(["LINK l -> b.txt"], "LINK::l::b.txt\n");
  expect(await session.told()).toEqual([]);
  rmSync(session.at("l"));
  symlinkSync("d.txt", session.at("l"));
  expect(await session.told()).toEqual(others("l (a link to d.txt now)"));
});

test("a large file of a turn is not called gone, and one that became a pipe is told as that", async () => {
  const session = await openSession();
  writeFileSync(session.at("large.bin"), Buffer.alloc(9 * 1024 * 1024));
  await session.play(
    ["COPY large.bin -> copy.bin", "WRITE c.txt"],
    `COPY::large.bin::copy.bin\n${write("c.txt", "c\n")}`,
  );
  expect(await session.told()).toEqual([]);
  rmSync(session.at("c.txt"));
  spawnSync("mkfifo", [session.at("c.txt")]);
  expect(await session.told()).toEqual(others("c.txt (something that cannot be read now)"));
});

test("a file that an undo or a redo wrote beside somebody's line is told, also where the line went again", async () => {
  const session = await openSession();
  const at = session.at("b.txt");
  const by = (text: string) => writeFileSync(at, text);
  const merges = { dryRun: false, merge: true };
  await session.play(["MODIFY b.txt"], modify("b.txt", ["b\n", "b\n2\n3\n"]));
  by("0\nb\n2\n3\n");
  const { run } = await session.history.undo(null, merges);
  expect(readFileSync(at, "utf8")).toBe("0\nb\n");
  const too = ["changed by somebody else, too: b.txt"];
  expect((await session.told()).slice(1)).toEqual(too);
  by("b\n2\n3\n");
  expect((await session.told()).slice(1)).toEqual(too);
  by("0\nb\n");
  await session.history.redo(run.id, merges);
  expect(readFileSync(at, "utf8")).toBe("0\nb\n2\n3\n");
  by("b\n");
  expect(await session.told()).toEqual(too);
});
