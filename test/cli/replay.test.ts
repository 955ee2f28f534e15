/** Replays: the same run again from its receipt, looks too. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { factsOf } from "../../src/core/receipt.ts";
import { hybrid } from "../../src/flows/auto.ts";
import { eightStep } from "../../src/flows/eight-step.ts";
import { singleShot } from "../../src/flows/single-shot.ts";
import { toolLoop } from "../../src/flows/tool-loop/tool-loop.ts";
import { call, calls } from "../flows/loop.ts";
import { finish, modify, plan, schedule, talk, verdict, write } from "../flows/plans.ts";
import { filesIn, makeFolder, openCache, openHere, type Place, readScenario } from "../flows/scripted.ts";
import { idOf, receiptsOf, record, replay } from "./recorded.ts";

const scenarios = join(import.meta.dir, "../scenarios");

test.each(readdirSync(scenarios).sort())("%s is replayed to the same tree, offline and on paper only", async (name) => {
  const folder = join(scenarios, name);
  const before = filesIn(join(folder, "before"));
  const place = makeFolder(before);
  const { changes } = await record(place, readScenario(folder));
  const [tree, state] = [filesIn(place.root), filesIn(place.state)];
  const replayed = await replay(place);
  expect(replayed).toMatchObject({ differing: [], difference: null, changed: changes.length });
  expect([filesIn(place.root), filesIn(place.state)]).toEqual([tree, state]);
  expect((await receiptsOf(place)).read(idOf(1)).broken).toBe(null);
});

const change = (search: string, put: string) => [
  plan({ steps: ["MODIFY a.txt"] }),
  modify("a.txt", [`${search}\n`, `${put}\n`]) + finish(),
];
const editA = calls(call("edit", { path: "a.txt", old_str: "one", new_str: "two" }));
/** Files enough that only the likeliest are shown. */
const many = Object.fromEntries(
  Array.from({ length: 60 }, (_, n) => [`src/part${n}.py`, `value = ${n}\n`.repeat(400)]),
);

test("a request that the history had a say in is made again without it", async () => {
  const place = makeFolder({ "a.txt": "one\n", ...many });
  const git = (...args: readonly string[]) => {
    const as = ["-c", "user.name=A", "-c", "user.email=a@b.c"];
    const done = spawnSync("git", [...as, ...args], { cwd: place.root, encoding: "utf8" });
    if (done.status !== 0) throw new Error(done.stderr);
  };
  git("init", "-q");
  const files = ["src/part41.py"];
  for (const [file, message] of Object.entries({
    "src/part41.py": "keep the colour of flags",
    "src/part7.py": "speed",
  })) {
    git("add", file);
    git("commit", "-q", "-m", message);
  }
  await record(place, { task: "the colour of flags is lost", lines: change("one", "two") });
  const { facts } = (await receiptsOf(place)).read(idOf(1));
  const [ranked] = factsOf(facts, "ranking");
  expect(ranked?.files[0]?.path).toBe("src/part41.py");
  expect(ranked?.commits).toEqual([{ subject: "keep the colour of flags", files }]);
  rmSync(join(place.root, ".git"), { recursive: true });
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
});

test("an older run is replayed under the runs after it, and after it was undone", async () => {
  const place = makeFolder({ "a.txt": "one\n" });
  await record(place, { lines: change("one", "two") }, 1);
  await record(place, { lines: change("two", "three") }, 2);
  for (const n of [1, 2]) expect(await replay(place, n)).toMatchObject({ differing: [], difference: null, changed: 1 });
  await (await openHere(place)).history.undo(null, { dryRun: false });
  for (const n of [1, 2]) expect(await replay(place, n)).toMatchObject({ differing: [], difference: null });
});

test("what commands changed comes from the receipt; no command runs again", async () => {
  const place = makeFolder({ "a.txt": "one\n" });
  const marker = join(place.root, "made.txt");
  const options = { checks: ["echo x >> made.txt"] };
  const { changes } = await record(place, { lines: change("one", "two"), options });
  expect(changes.map(({ path }) => path).sort()).toEqual(["a.txt", "made.txt"]);
  const ran = readFileSync(marker, "utf8");
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 2 });
  expect(readFileSync(marker, "utf8")).toBe(ran);
});

test("where they can no longer be known the tree is another, and the paths are named", async () => {
  const place = makeFolder({ "a.txt": "one\n" });
  await record(place, { lines: change("one", "two") });
  await (await openHere(place)).history.undo(null, { dryRun: false });
  writeFileSync(join(place.root, "a.txt"), "one\nand more\n");
  const { differing, difference } = await replay(place);
  expect([differing, difference]).toEqual([["a.txt"], "request 1 (plan) differs: the project has changed"]);
});

test("an eight-step run is replayed with its verdicts, also when --mode auto chose it", async () => {
  const rest = [write("b.txt", "b\n") + finish(), verdict(), "Made it."];
  const complex = plan({ steps: ["WRITE b.txt"], complexity: "complex" });
  for (const setup of [
    { flow: eightStep, lines: [schedule({ create: ["b.txt"] }), ...rest], options: { mode: "eight-step" } },
    { flow: hybrid, lines: [complex, ...rest], options: { mode: "auto" } },
  ]) {
    const place = makeFolder({ "a.txt": "one\n" });
    expect(await record(place, setup)).toMatchObject({ error: null, mode: "eight-step", score: 8 });
    const { outcome, ...replayed } = await replay(place);
    expect(replayed).toEqual({ differing: [], difference: null, changed: 1 });
    expect(outcome).toMatchObject({ mode: "eight-step", score: 8, text: "Made it." });
  }
});

const withCheck = { atOnce: "auto", checks: ["grep -q two a.txt"] } as const;
const editNow = modify("a.txt", ["one\n", "two\n"]) + finish();
const mended = [modify("a.txt", ["no such line\n", "two\n"]) + finish(), editNow];
const copyA = calls(call("bash", { command: "cp a.txt new.txt" }));
const readEditCopy = [calls(call("read", { path: "a.txt" })), editA, copyA, "Done."];
const writeB = [plan({ steps: ["WRITE b.txt"] }), write("b.txt", "b\n") + finish()];

const allowDelete = { allowDelete: true };

test.each<readonly [string, Parameters<typeof record>[1]]>([
  ["what removes a folder", { lines: [plan({ steps: ["RM src"] }), `RM::src\n${finish()}`], options: allowDelete }],
  ["what moves a folder", { lines: [plan({ steps: ["MV src -> lib"] }), `MV::src::lib\n${finish()}`] }],
  ["a tool-loop", { flow: toolLoop, options: { mode: "tool-loop", allowRun: true }, lines: readEditCopy }],
  ["talk", { lines: [talk("Hello.")] }],
  ["a plan only", { lines: writeB.slice(0, 1), options: { command: "plan", planOnly: true } }],
  ["a dry run", { lines: writeB, options: { dryRun: true } }],
  ["work in the first answer", { lines: [editNow], options: withCheck }],
  ["work in the first answer that is mended", { lines: mended, options: withCheck }],
  ["a plan where the answer could be the work", { lines: ["PLAN", ...change("one", "two")], options: withCheck }],
  ["a file named with @", { task: "like @src/b.py", mentioned: ["src/b.py"], lines: change("one", "two") }],
])("%s is replayed to the same tree, whatever became of a file since", async (_what, setup) => {
  const place = makeFolder({ "a.txt": "one\n", "src/b.py": "b = 1\n", "src/d/c.txt": "c\n" });
  const { changes, calls: made } = await record(place, setup);
  expect(made.made).toBe(setup.lines.length);
  if (changes.some(({ path }) => path === "a.txt")) writeFileSync(join(place.root, "a.txt"), "somebody else's\n");
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: changes.length });
});

const key = "sk-proj-4Kz9Qw2Rt7Yp1Lm8Nv3Xb6Hc5Jd0Fg";

/** The bytes of the first run's receipt. */
const receiptIn = async (place: Place) =>
  readFileSync(join((await receiptsOf(place)).folder, `${idOf(1)}.jsonl`), "utf8");

test("secrets stay names in the receipt, and the replay puts them back into the file", async () => {
  const place = makeFolder({ "config.txt": `api_key = "${key}"\nport = 1\n` });
  const lines = [
    plan({ steps: ["WRITE config.txt"] }),
    write("config.txt", 'api_key = "<<SECRET_k3f9_1>>"\nport = 2\n') + finish(),
  ];
  await record(place, { task: "set port to 2 in config.txt", lines });
  expect(readFileSync(join(place.root, "config.txt"), "utf8")).toContain(key);
  expect(await receiptIn(place)).not.toContain(key);
  const calls = (await receiptsOf(place)).read(idOf(1)).facts.filter(({ type }) => type === "call");
  expect(calls.map((fact) => "masked" in fact && fact.masked)).toEqual([1, 1]);
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
});

test("a key in the task or in what a command says does not get into the receipt", async () => {
  const place = makeFolder({ "a.txt": "one\n" });
  const options = { checks: [`echo ${key}`] };
  await record(place, { task: `change a.txt, not ${key}`, lines: change("one", "two"), options });
  expect(await receiptIn(place)).not.toContain(key);
  expect(await replay(place)).toMatchObject({ differing: [], changed: 1 });
});

test("what the user typed or piped gets into the receipt as the model saw it, values that only their name tells, too", async () => {
  const place = makeFolder({ "a.txt": "one\n" });
  const task = "change a.txt; a password=Quok5kaaaa1 b";
  await record(place, { task, context: "password=Quok5kaaaa2\n", lines: change("one", "two") });
  expect(await receiptIn(place)).not.toContain("Quok5kaaaa");
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
});

const keyOf = (letter: string) => `glpat-${letter}T3x9Qm2Zk7Lw4Rv8Jy6`;

test("a key in the task keeps its number, so that the names of later ones still fit", async () => {
  const large = "a line of text\n".repeat(8000);
  const place = makeFolder({ "config.txt": `${large}token = ${keyOf("b")}\n` });
  const edit = modify("config.txt", ["token = <<SECRET_k3f9_2>>\n", "token = <<SECRET_k3f9_2>>\nport = 1\n"]);
  const { error } = await record(place, {
    task: `set the port in config.txt; the server takes ${keyOf("a")}`,
    lines: [plan({ steps: ["MODIFY config.txt"] }), edit + finish()],
  });
  expect(error).toBeNull();
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
});

test("helpers that explored at the same time get their own replies again", async () => {
  const place = makeFolder({ "a.txt": "one\n" });
  const waiting = (text: string, ms: number) => ({ text, before: () => Bun.sleep(ms) });
  const lines = [
    calls(call("explore", { task: "first" }), call("explore", { task: "second" })),
    waiting("the first", 60),
    waiting("the second", 1),
    calls(call("write", { path: "b.txt", content: "made\n" })),
    "Done.",
  ];
  const { error } = await record(place, { lines, flow: toolLoop, options: { mode: "tool-loop" } });
  expect(error).toBeNull();
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
});

test.each([
  ["single-shot", singleShot],
  ["auto", hybrid],
])("what looks found comes from the receipt, whatever became of the files since: %s", async (mode, flow) => {
  const look = (target: string) => plan({ steps: [`READ ${target}`, "SEARCH value = 31"] });
  const lines = [look("src/part30.py:3-4"), look("src/gone.py"), ...change("one", "two")];
  const place = makeFolder({ "a.txt": "one\n", ...many });
  await record(place, { task: "change a.txt", lines, flow, options: { mode } });
  const { facts } = (await receiptsOf(place)).read(idOf(1));
  const found = factsOf(facts, "look").map(({ action, code }) => `${action} ${code}`);
  expect(found.toSorted()).toEqual(["READ file_unusable", "READ null", "SEARCH null", "SEARCH null"]);
  for (const n of [30, 31]) writeFileSync(join(place.root, `src/part${n}.py`), "somebody else's\n");
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
});

const looked = [plan({ steps: ["MODIFY a.txt"], complexity: "moderate" }), "READ::src/part30.py::1-2\n", editNow];
test.each([
  ["single-shot", singleShot, looked],
  ["tool-loop", toolLoop, [calls(call("read", { path: "src/part30.py" })), editA, "Done."]],
] as const)("so does what a reply of the work looked at: %s", async (mode, flow, lines) => {
  const place = makeFolder({ "a.txt": "one\n", ...many });
  await record(place, { task: "change a.txt", lines, flow, options: { mode } });
  writeFileSync(join(place.root, "src/part30.py"), "somebody else's\n");
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
});

test("what was remembered comes from the receipt, and a replay keeps nothing", async () => {
  const kept: string[] = [];
  const memory = {
    recall: async () => "tests run with: make test",
    learn: async (facts: readonly string[]) => {
      kept.push(...facts);
      return [];
    },
  };
  const place = makeFolder({ "a.txt": "one\n" });
  const lines = [
    plan({ steps: ["MODIFY a.txt"] }),
    `${modify("a.txt", ["one\n", "two\n"])}${finish("Done.\nREMEMBER: numbers are words")}`,
  ];
  await record(place, { lines, memory });
  expect(kept).toEqual(["numbers are words"]);
  expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
  expect(kept).toEqual(["numbers are words"]);
});

test("a plan of the cache and the looks before it come from the receipt", async () => {
  const planCache = openCache();
  const look = plan({ steps: ["READ src/part30.py:3-4"] });
  const [made = "", script = ""] = change("one", "two");
  const place = makeFolder({ "a.txt": "one\n", ...many });
  await record(place, { lines: [look, made, script], planCache }, 1);
  writeFileSync(join(place.root, "a.txt"), "one\n");
  const { calls } = await record(place, { lines: [script], planCache }, 2);
  expect(calls.made).toBe(1);
  writeFileSync(join(place.root, "src/part30.py"), "somebody else's\n");
  for (const n of [1, 2]) expect(await replay(place, n)).toMatchObject({ differing: [], difference: null, changed: 1 });
});
