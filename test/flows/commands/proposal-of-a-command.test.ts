/** What a command changes on its copy is judged, shown, decided and applied like every other change, or not at all. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { needs, rootUser } from "../../needs.ts";
import { copies } from "../../workspace/sandbox/here.ts";
import { call, calling, calls, playLoop, resultsOf } from "../loop.ts";
import { finish, modify, plan, planTo, talk } from "../plans.ts";
import { play } from "../scripted.ts";
import { openTurns } from "../turns.ts";

const onCopies = needs(copies).test;
const files = { "a.txt": "one\n", "b.txt": "two\n" };
const lines = (command: string) => [
  planTo(`RUN ${command}`),
  `RUN::${command}\n${finish()}`,
  finish("It could not be."),
  finish("It could not be."),
];
const run = (command: string, options = {}) =>
  play({ files, lines: lines(command), options: { allowRun: true, ...options } });

onCopies("a planned command needs no rights for its paths; its changes are shown and listed", async () => {
  const ran = await run("echo more >> a.txt; mkdir new; echo n > new/n.txt");
  expect(ran.outcome).toMatchObject({ code: 0, sandbox: "full" });
  expect(ran.files).toEqual({ ...files, "a.txt": "one\nmore\n", "new/n.txt": "n\n" });
  expect(ran.outcome.changes.map(({ op, path, by }) => `${op} ${path} ${by}`).sort()).toEqual([
    "create new/n.txt command",
    "mkdir new command",
    "modify a.txt command",
  ]);
  expect(ran.eventsOf("changes.proposed")[0]?.diff).toContain("+more");
});

onCopies("what is refused of it refuses all of it: outside --only, a deletion, a denied name", async () => {
  const headless = "headless that needs --allow-delete";
  const git = ".git may not be changed; --allow-write .git lets commands write it";
  for (const [command, why] of [
    ["echo x >> a.txt; echo y >> b.txt", "b.txt is outside --only a.txt"],
    ["echo x >> a.txt; rm b.txt", `it deletes b.txt: ${headless}`],
    ["rm b.txt; ln -s a.txt b.txt", `it replaces b.txt by a link: ${headless}`],
    ["rm b.txt; mkdir b.txt; echo x > b.txt/c", `it replaces b.txt by a folder: ${headless}`],
    ["echo x >> a.txt; echo K=1 > .env", ".env may not be changed"],
    ["echo x >> a.txt; git init -q . || mkdir .git", git],
  ] as const) {
    const ran = await run(command, why.includes("--only") ? { only: [["a.txt"]] } : {});
    expect(ran.files).toEqual(files);
    const ends = ran.eventsOf("call.finished").map(({ text }) => text);
    expect(ends[0]).toContain(`nothing that the command changed was kept. ${why}`);
    expect(ran.outcome.changes).toEqual([]);
  }
  expect((await run("rm b.txt", { allowDelete: true })).files).toEqual({ "a.txt": "one\n" });
});

onCopies("without a plan people see what a command changed, and a no keeps nothing of it", async () => {
  const bash = calling("bash", { command: "echo more >> a.txt; exit 3" });
  const asked = await playLoop([bash, "Done."], { files, options: { interactive: true }, answers: ["yes", "no"] });
  expect(asked.questions.map(({ kind, text }) => [kind, text.split("\n")[0]])).toEqual([
    ["command", "Run this command?"],
    ["batch", "Apply what the command changed? (exit 3)"],
  ]);
  expect(asked.files).toEqual(files);
  expect(resultsOf(asked, 2)[0]?.text).toContain("nothing that the command changed was kept");
  const kept = await playLoop([bash, "Done."], { files, options: { interactive: true }, answers: "yes" });
  expect(kept.files["a.txt"]).toBe("one\nmore\n");
});

onCopies("a new folder without content, and the cache of a tool, ask nobody, however the command ended", async () => {
  const command =
    "mkdir -p .benchmarks .pytest_cache/v; echo x > .pytest_cache/v/last; mkdir -p p/__pycache__; touch p/__pycache__/m.pyc; exit 1";
  const ran = await playLoop([calling("bash", { command }), "Done."], {
    files,
    options: { interactive: true },
    answers: ["yes"],
  });
  expect(ran.questions.map(({ kind }) => kind)).toEqual(["command"]);
  const cached = [".benchmarks/", ".pytest_cache/v/last", "p/__pycache__/m.pyc"];
  expect(Object.keys(ran.files)).toEqual([...cached, "a.txt", "b.txt"].sort());
  expect(resultsOf(ran, 2)[0]?.text).toMatch(/^exit 1 after/);
  const asked = await playLoop([calling("bash", { command: "mkdir d; touch d/f" }), "Done."], {
    files,
    options: { interactive: true },
    answers: ["yes", "no"],
  });
  expect([asked.questions.length, asked.files]).toEqual([2, files]);
});

onCopies("in a dry run the next command sees what the one before would have changed", async () => {
  const both = calls(
    call("write", { path: "c.txt", content: "three\n" }),
    call("bash", { command: "cat c.txt; echo four >> c.txt" }),
    call("bash", { command: "cat c.txt" }),
  );
  const ran = await playLoop([both, "Done."], { files, options: { allowRun: true, dryRun: true } });
  expect(ran.files).toEqual(files);
  expect(resultsOf(ran, 2).map(({ text }) => text.split("\n").slice(1))).toEqual([
    [],
    ["(it changed c.txt)", "three"],
    ["three", "four"],
  ]);
  expect(ran.outcome.diff).toContain("+three\n+four\n");
});

test("the sandbox of commands is described once a run", async () => {
  const ran = await run("true; echo more >> a.txt", { checks: ["true"] });
  const said = ran.eventsOf("notice").filter(({ code }) => code === "sandbox");
  expect(said.map(({ text }) => text)).toEqual([expect.stringMatching(/^sandbox (full|writes|off)/)]);
});

onCopies("its notice says little, and the rest in its details", async () => {
  const told = async (sandbox: object) => {
    const { eventsOf } = await play({ lines: lines("true"), options: { allowRun: true }, sandbox });
    return eventsOf("notice").find(({ code }) => code === "sandbox");
  };
  const details = expect.stringContaining("seccomp");
  expect(await told({})).toMatchObject({ text: "sandbox full, network off", details });
  expect((await told({ network: true }))?.text).toBe("sandbox full, network on, local services too");
});

needs(copies, rootUser).test("a command that meets the wall gets a line on what may be in its way", async () => {
  const ran = await run("touch /etc/pai-was-here");
  expect(ran.notices("sandbox_wall")).toEqual([]);
  expect(ran.eventsOf("call.finished").map(({ text }) => text.split("\n")[0])).toContainEqual(
    expect.stringContaining("perhaps the sandbox: only the project can be written (--allow-write /etc/pai-was-here)"),
  );
});

onCopies("a result tells in one clause what it says of the sandbox and not of the machine", async () => {
  const toldWith = async (sandbox: object) => {
    const bash = calling("bash", { command: "echo hi" });
    const ran = await playLoop([bash, "Done."], { options: { allowRun: true }, sandbox });
    const said = resultsOf(ran, 2)[0]?.text.replace(/after \d+ ms/, "after 1 ms");
    const shown = ran.eventsOf("call.finished")[0]?.text.replace(/after \d+ ms/, "after 1 ms");
    return [said, shown];
  };
  const first = "exit 0 after 1 ms (in a sandbox: processes, /tmp, /run and network are its own)";
  expect(await toldWith({})).toEqual([`${first}\nhi`, first]);
  const online = "exit 0 after 1 ms (in a sandbox: processes, /tmp and /run are its own)";
  expect(await toldWith({ network: true })).toEqual([`${online}\nhi`, online]);
  expect(await toldWith({ choice: "off" })).toEqual(["exit 0 after 1 ms\nhi", "exit 0 after 1 ms"]);
});

const unkept = "exit 0, and nothing that it changed was kept";

onCopies("a command works on what somebody wrote before it began, and meets no conflict", async () => {
  const turns = openTurns({ ...files, "README.md": "old\n" });
  let asked = 0;
  const touch = (name: string) => call("bash", { command: `sed -i s/o/O/ README.md; date > ${name}` });
  const ran = await turns.say("go", {
    ...{ flow: toolLoop, options: { interactive: true, mode: "tool-loop" } },
    lines: [calls(touch("c.txt")), calls(touch("d.txt")), "Done."],
    answers: ["yes", "no", "yes", "yes"],
    onQuestion: ({ kind }) => {
      if (kind === "batch" && asked++ === 0) writeFileSync(join(turns.root, "README.md"), "one more\n");
    },
  });
  expect(ran.outcome).toMatchObject({ code: 0, error: null });
  expect(ran.files).toMatchObject({ "README.md": "One more\n" });
});

onCopies("words at what a command changed: its result tells a model without a plan what that was", async () => {
  const bash = calling("bash", { command: "echo 1 > out.txt; echo log > gen.log" });
  const setup = { options: { interactive: true }, answers: ["yes", { feedback: "not gen.log" }] } as const;
  const ran = await playLoop([bash, "Then not."], setup);
  const [result] = resultsOf(ran, 2);
  expect(result?.text).toContain(
    'the user wants these changes otherwise: "not gen.log"\nThe changes:\ndiff --git a/gen.log',
  );
  expect(result?.text).toContain("+log");
});

onCopies("a command of which a person keeps nothing has run all the same: its output is the answer", async () => {
  const [planned = "", done = ""] = lines("echo 5 passed; echo x > junk.txt");
  const asked = { options: { interactive: true }, answers: ["yes", "no"] } as const;
  const ran = await play({ files, lines: [planned, done], ...asked });
  expect(ran.outcome).toMatchObject({ code: 0, actions: { done: 1, refused: 0 }, refused: [], changes: [] });
  expect(ran.told(2)).toContain("5 passed");
  expect(ran.files).toEqual(files);
});

onCopies("a command whose file somebody changed meanwhile is told as run, with nothing kept", async () => {
  const turns = openTurns(files);
  const command = "echo begun; sleep 1; echo more >> a.txt; echo ended > c.txt; echo ended";
  const others = "MODE::b.txt::755\nMKDIR::new\nLINK::l::b.txt\n";
  const first = await turns.say("make it", {
    lines: [
      planTo("MODIFY b.txt", "MODE b.txt -> 755", "MKDIR new", "LINK l -> b.txt", `RUN ${command}`),
      `${modify("b.txt", ["two\n", "2\n"])}${others}RUN::${command}\n${finish("Done.")}`,
    ],
    options: { interactive: true },
    answers: "yes",
    onEvent: ({ type }) => {
      if (type === "command.output") writeFileSync(join(turns.root, "a.txt"), "theirs\n");
    },
  });
  const why =
    "a.txt was changed by someone else while a command worked on it: nothing that the command changed was kept";
  expect(first.outcome).toMatchObject({ code: 11, error: { message: why }, commands: [{ command, exit: 0 }] });
  expect(first.outcome.undone).toBeUndefined();
  expect(first.files).toEqual({ "a.txt": "theirs\n", "b.txt": "2\n", "new/": "" });
  expect(first.eventsOf("look.shown").map(({ text }) => text)).toEqual(["begun\nended\n"]);
  const { past } = await turns.say("what now?", { lines: [talk("Look.")], options: { interactive: true } });
  expect(past).toContain(`failed: ${why}; changed: b.txt, l, new/; commands that ran: ${command} (${unkept})`);
  expect(past).not.toContain("not done");
});

test.each([
  ["a command of the run", "RUN", "grep -q c a.txt"],
  ["a check of the user", null, "echo new >dist/app.js; grep -q c a.txt"],
])("an ignored file of a request that %s wrote is no work of somebody else", async (_, isRun, check) => {
  const command = "echo new >dist/app.js";
  const ran = await play({
    files: { ".gitignore": "dist/\n", "dist/app.js": "old\n", "a.txt": "a\n" },
    mentioned: ["dist/app.js"],
    lines: [
      plan({ steps: ["MODIFY a.txt", ...(isRun ? [`RUN ${command}`] : [])] }),
      `${modify("a.txt", ["a\n", "b\n"])}${isRun ? `RUN::${command}\n` : ""}${finish()}`,
      modify("a.txt", ["b\n", "c\n"]) + finish(),
    ],
    options: { allowRun: true, checks: [check] },
  });
  expect(ran.asked(3)).toContain("-old\n+new\n");
  expect(ran.asked(3)).not.toContain("not by you");
  expect(ran.eventsOf("notice").map(({ code }) => code)).not.toContain("merged");
  expect([ran.outcome.ok, ran.outcome.merged]).toEqual([true, undefined]);
  expect(ran.outcome.stays?.paths).toEqual(isRun ? ["dist"] : undefined);
});
