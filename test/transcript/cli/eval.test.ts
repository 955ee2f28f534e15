/** `pai eval` in the built binary: controls, replayed candidates, tampering, resuming, bad tasks. All of it offline. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../../needs.ts";
import { dataOf, layReplies, layTask } from "../eval-tasks.ts";
import { openPlace, type Place } from "../harness.ts";

/** The document of an evaluation of a folder of tasks by these models. */
async function evaluate(place: Place, folder: string, models: string, ...more: readonly string[]) {
  const { code, stdout } = await place.pai([
    "eval",
    "run",
    folder,
    "--model",
    models,
    "--sandbox",
    "off",
    "--json",
    ...more,
  ]);
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
    expect(told(model)).toMatchObject({
      mode: "single-shot",
      passed: true,
      calls: 2,
      promise_kept: true,
      error: null,
    });
  });

  test.concurrent("a candidate that writes the hidden test has not passed, and it is said", async () => {
    await using place = openPlace();
    const folder = layTask(place, "word");
    const model = `replay:${layReplies(place, "check.sh", "exit 0")}`;
    const { results } = await evaluate(place, folder, model);
    expect(results[0]).toMatchObject({
      passed: false,
      tampered: ["check.sh"],
      check: { exit: 2 },
    });
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
  expect(await said(layTask(place, "out", { hidden: ["../../x"] }))).toContain(
    "must be a relative path below its folder",
  );
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
  expect(results[0]).toMatchObject({
    status: "verified",
    check: { exit: 0 },
    tampered: ["hidden/check.sh"],
  });
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
  const config = {
    files: { solution: [solution], test: ["t.py"], example: [".meta/example.py"] },
  };
  writeFileSync(join(exercise, ".meta/config.json"), JSON.stringify(config));
  writeFileSync(join(exercise, ".meta/example.py"), "echo from elsewhere\n");
  writeFileSync(join(exercise, "t.py"), "");
  const to = join(place.spare, "out");
  const done = await place.pai(["eval", "import", "polyglot", join(place.spare, "set"), "--to", to, "--json"]);
  expect(dataOf(done.stdout)).toMatchObject({
    made: [],
    left: [expect.stringContaining("must be a relative path")],
  });
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
