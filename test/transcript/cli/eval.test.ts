/** `pai eval` in the built binary: controls, replayed candidates, tampering, resuming, bad tasks. All of it offline. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { postgres, startPostgres, usePostgres } from "../../lab/postgres.ts";
import { needs } from "../../needs.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

/** Needs only sh: the solution is a word in a file. */
const task = {
  prompt: "Write yes into answer.txt",
  hidden: ["check.sh"],
  solution: ["answer.txt"],
  check: "sh check.sh",
};
const files = {
  "files/answer.txt": "yes\n",
  "files/check.sh": "grep -qx yes answer.txt\n",
  "files/README.md": "# task\n",
};

function layTask(place: Place, name: string, more: object = {}): string {
  const folder = join(place.spare, "tasks", name);
  for (const [path, text] of Object.entries({ ...files, "task.json": JSON.stringify({ ...task, ...more }) })) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function layReplies(place: Place, target: string, text: string): string {
  const replies = [planned([`WRITE ${target}`]), done(write(target, `${text}\n`))];
  const file = join(place.spare, `${target}.jsonl`);
  writeFileSync(file, replies.map((reply) => `${JSON.stringify(reply)}\n`).join(""));
  return file;
}

const dataOf = (stdout: string) => JSON.parse(stdout).data;

/** The document of an evaluation of a folder of tasks by these models. */
async function evaluate(place: Place, folder: string, models: string, ...more: readonly string[]) {
  const flags = ["--sandbox", "off", "--json", ...more];
  const { code, stdout } = await place.pai(["eval", "run", folder, "--model", models, ...flags]);
  expect(code).toBe(0);
  return dataOf(stdout);
}

describe("pai eval run", () => {
  test.concurrent("oracle solves, nop does not, a replayed candidate is checked by tests it never saw", async () => {
    await using place = openPlace();
    const folder = layTask(place, "word");
    const model = `replay:${layReplies(place, "answer.txt", "yes")}`;
    const modes = ["--mode", "single-shot,tool-loop"];
    const { results, total } = await evaluate(place, folder, `oracle,nop,${model}`, ...modes);
    expect(total).toBe(4);
    const told = (name: string) => results.find((each: { model: string }) => each.model === name);
    expect(told("oracle")).toMatchObject({ task: "word", mode: "none", passed: true });
    expect(told("nop")).toMatchObject({ passed: false, tampered: [] });
    const ended = { mode: "single-shot", passed: true, calls: 2, promise_kept: true, error: null };
    expect(told(model)).toMatchObject(ended);
  });

  test.concurrent("a candidate that writes the hidden test has not passed, and it is said", async () => {
    await using place = openPlace();
    const folder = layTask(place, "word");
    const model = `replay:${layReplies(place, "check.sh", "exit 0")}`;
    const { results } = await evaluate(place, folder, model);
    expect(results[0]).toMatchObject({ passed: false, tampered: ["check.sh"], check: { exit: 2 } });
  });

  test.concurrent("a second start does nothing twice, and a changed task anew", async () => {
    await using place = openPlace();
    const folder = layTask(place, "word");
    const args = ["eval", "run", folder, "--model", "oracle,nop", "--sandbox", "off"];
    expect((await place.pai(args)).stderr).toContain("1 task, 2 to do, 0 done before");
    expect((await place.pai(args)).stderr).toContain("1 task, 0 to do, 2 done before");
    writeFileSync(join(folder, "files/README.md"), "# another\n");
    expect((await place.pai(args)).stderr).toContain("1 task, 2 to do, 0 done before");
    expect(readFileSync(join(place.root, "eval-results.jsonl"), "utf8").trim().split("\n")).toHaveLength(4);
    const report = await place.pai(["eval", "report", "-o", "report.html"]);
    expect(report.stdout).toContain("| oracle | none | 2 | 2 |");
    expect(place.read("report.html")).toContain("<td>oracle</td>");
  });

  test.concurrent("shares are disjoint and together whole", async () => {
    await using place = openPlace();
    for (const name of ["a", "b", "c"]) layTask(place, name);
    const tasks = join(place.spare, "tasks");
    const run = (shard: string) => evaluate(place, tasks, "nop", "--shard", shard, "--results", `${shard[0]}.jsonl`);
    const both = [await run("1/2"), await run("2/2")];
    const names = both.flatMap(({ results }) => results.map((each: { task: string }) => each.task));
    expect(names.sort()).toEqual(["a", "b", "c"]);
  });

  test.concurrent("a check without end is ended after its time", async () => {
    await using place = openPlace();
    const folder = layTask(place, "word", { check: "sleep 60", timeout: 1 });
    const { results } = await evaluate(place, folder, "oracle");
    expect(results[0]).toMatchObject({ passed: false, check: { exit: null } });
  });
});

test.concurrent("tasks with links, missing files or paths that lead out are refused before anything runs", async () => {
  await using place = openPlace();
  const linked = layTask(place, "linked");
  symlinkSync("/etc/passwd", join(linked, "files/passwd"));
  const said = async (folder: string) => {
    const { code, stderr } = await place.pai(["eval", "run", folder, "--model", "oracle"]);
    expect(code).toBe(2);
    return stderr;
  };
  expect(await said(linked)).toContain("no links or devices");
  const out = layTask(place, "out", { hidden: ["../../x"] });
  expect(await said(out)).toContain("must be a relative path below its folder");
  expect(await said(layTask(place, "gone", { hidden: ["nosuch"] }))).toContain("files/nosuch does not exist");
  expect(await said(place.home)).toContain("holds no task");
});

/** Code of the candidate that its own check runs, twice since it changes a folder: it leaves links where pai will write. */
const linking = `mkdir -p "$HOME/out"
rm -rf hidden && ln -s "$HOME/out" hidden
ln -sf "$HOME/.profile" .pai-eval-answer.txt`;

test.concurrent("what is put back after a candidate goes through no link that its code left", async () => {
  await using place = openPlace();
  writeFileSync(join(place.home, ".profile"), "mine\n");
  const folder = layTask(place, "linking", {
    hidden: ["hidden/check.sh"],
    check: "sh hidden/check.sh",
    checks: ["sh answer.txt"],
  });
  mkdirSync(join(folder, "files/hidden"));
  writeFileSync(join(folder, "files/hidden/check.sh"), 'grep -q "Done" "$PAI_EVAL_ANSWER"\n');
  const model = `replay:${layReplies(place, "answer.txt", linking)}`;
  const { results } = await evaluate(place, folder, model);
  expect(results[0]).toMatchObject({ status: "verified", check: { exit: 0 }, tampered: ["hidden/check.sh"] });
  expect(readFileSync(join(place.home, ".profile"), "utf8")).toBe("mine\n");
  expect(readdirSync(join(place.home, "out"))).toEqual([]);
});

test.concurrent("an import of a folder that is not there is a usage error, and makes nothing", async () => {
  await using place = openPlace();
  const to = join(place.spare, "out");
  const done = await place.pai(["eval", "import", "polyglot", "/nosuch", "--to", to]);
  expect([done.code, done.stderr.split("\n")[0], existsSync(to)]).toEqual([2, "pai: /nosuch has no exercises", false]);
});

test.concurrent("an exercise whose configuration leads out of its folder is left out, and nothing is written", async () => {
  await using place = openPlace();
  const exercise = join(place.spare, "set/python/exercises/practice/evil");
  mkdirSync(join(exercise, ".meta"), { recursive: true });
  const solution = "../../../../../home/.profile";
  const config = { files: { solution: [solution], test: ["t.py"], example: [".meta/example.py"] } };
  writeFileSync(join(exercise, ".meta/config.json"), JSON.stringify(config));
  writeFileSync(join(exercise, ".meta/example.py"), "echo from elsewhere\n");
  writeFileSync(join(exercise, "t.py"), "");
  const to = join(place.spare, "out");
  const done = await place.pai(["eval", "import", "polyglot", join(place.spare, "set"), "--to", to, "--json"]);
  expect(dataOf(done.stdout)).toMatchObject({ made: [], left: [expect.stringContaining("must be a relative path")] });
  expect(existsSync(join(place.home, ".profile"))).toBe(false);
});

needs("python3").test.concurrent("of pai's own tasks the solution passes all and doing nothing none", async () => {
  await using place = openPlace();
  await place.pai(["eval", "import", "thesis", "tasks"]);
  const { candidates } = await evaluate(place, "tasks", "oracle,nop");
  expect(candidates).toMatchObject([
    { model: "oracle", passed: 6, results: 6 },
    { model: "nop", passed: 0, results: 6 },
  ]);
});

needs(postgres).describe("a queue in the team's store", () => {
  const server = usePostgres();

  test.concurrent("is filled once, emptied by several workers, and reported", async () => {
    await using place = openPlace();
    for (const name of ["one", "two", "three"]) layTask(place, name);
    const tasks = join(place.spare, "tasks");
    const model = `oracle,nop,replay:${layReplies(place, "answer.txt", "yes")}`;
    const env = { PAI_STORE_URL: server.url() };
    const evaluate = (...args: readonly string[]) =>
      place.pai(["eval", ...args, "--queue", "night", "--json"], { env });
    expect(dataOf((await evaluate("run", tasks, "--model", model)).stdout)).toMatchObject({ added: 9, known: 0 });
    expect(dataOf((await evaluate("run", tasks, "--model", model)).stdout)).toMatchObject({ added: 0, known: 9 });
    const workers = ["a.jsonl", "b.jsonl", "c.jsonl"].map((file) =>
      evaluate("worker", tasks, "--sandbox", "off", "--jobs", "1", "--results", file),
    );
    const done = (await Promise.all(workers)).map(({ code, stdout }) => [code, dataOf(stdout).total as number]);
    expect(done.map(([code]) => code)).toEqual([0, 0, 0]);
    expect(done.reduce((sum, [, total = 0]) => sum + total, 0)).toBe(9);
    const report = dataOf((await evaluate("report")).stdout);
    expect([report.total, report.passed]).toEqual([9, 6]);
  });

  test.concurrent("is judged by what stands in it: rows of others that name no candidate run nothing", async () => {
    await using place = openPlace();
    layTask(place, "word");
    const tasks = join(place.spare, "tasks");
    const env = { PAI_STORE_URL: server.url() };
    const args = ["--queue", "forged", "--sandbox", "off"];
    await place.pai(["eval", "run", tasks, "--model", "oracle", ...args], { env });
    server.sql("update pai.eval_items set model = '--keep', mode = 'auto' where queue = 'forged'");
    const ran = await place.pai(["eval", "worker", tasks, ...args, "--json"], { env });
    expect(dataOf(ran.stdout).results).toMatchObject([{ passed: false, error: "the candidate is not valid" }]);
    server.sql(`update pai.eval_items set result = '{"bad": ["row"]}' where queue = 'forged'`);
    expect((await place.pai(["eval", "report", "--queue", "forged"], { env })).code).toBe(2);
    const none = await place.pai(["eval", "worker", tasks, "--queue", "nowhere"], { env });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("unknown queue: nowhere")]);
    expect((await place.pai(["eval", "worker", tasks, "--queue", "night"])).code).toBe(2);
  });
});

needs(postgres).test("a worker outlives a restart of the database, and its result is there afterwards", async () => {
  await using place = openPlace();
  const server = startPostgres();
  try {
    layTask(place, "slow", { check: "sleep 1; sh check.sh" });
    const tasks = join(place.spare, "tasks");
    const env = { PAI_STORE_URL: server.url() };
    const args = ["--queue", "restart", "--sandbox", "off"];
    await place.pai(["eval", "run", tasks, "--model", "oracle", ...args], { env });
    const working = place.pai(["eval", "worker", tasks, ...args, "--json"], { env });
    while (server.sql("select count(*) from pai.eval_items where worker is not null") !== "1") await Bun.sleep(20);
    server.kill();
    await Bun.sleep(1500);
    server.start();
    const { code, stdout, stderr } = await working;
    expect([code, dataOf(stdout).passed, stderr]).toEqual([0, 1, expect.stringContaining("asking again")]);
    expect(server.sql("select result ->> 'passed' from pai.eval_items")).toBe("true");
  } finally {
    server.stop();
  }
});
