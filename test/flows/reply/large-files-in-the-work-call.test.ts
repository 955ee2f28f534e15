/** What the execution call shows of large files that it changes, and that edits of them still apply. */
import { describe, expect, test } from "bun:test";
import { module } from "../long-files.ts";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { play } from "../scripted.ts";

const lengthOf = (ran: Awaited<ReturnType<typeof play>>, n: number) => JSON.stringify(ran.requests[n - 1]).length;
const large = module(1600);
const rewritten = large.replace("value + 500\n", "value + 501\n");

/** Plays a task whose last plan, after these replies, has one line of a.py changed. */
const changing = (file: string, task: string, [n, made]: readonly [number, string], ...plans: readonly string[]) =>
  play({
    files: { "a.py": file },
    task,
    lines: [...plans, modify("a.py", [`    value = value + ${n}\n`, `    value = value + ${made}\n`]) + finish()],
  });
const one = planTo("MODIFY a.py");

describe("of a large file that it changes the execution call", () => {
  test("shows the line that the request names, in a file of 500 KB, and the change is made in two calls", async () => {
    const files = { "lib/engine.py": module(7000, (n) => (n === 4321 ? "retry_limit is 3" : "work")) };
    expect(files["lib/engine.py"].length).toBeGreaterThan(500_000);
    const edit = ["    # retry_limit is 3\n", "    # retry_limit is 5\n"] as const;
    const ran = await play({
      files,
      task: "raise retry_limit to 5 in lib/engine.py",
      lines: [planTo("MODIFY lib/engine.py"), modify("lib/engine.py", edit) + finish()],
    });
    expect(ran.told(2)).toContain('<file path="lib/engine.py" shown="parts of 35000 lines">');
    expect(ran.told(2).split("# retry_limit is 3").length).toBe(2);
    expect(ran.told(2)).toContain("defines (name line): step_0 1");
    expect(lengthOf(ran, 2)).toBeLessThan(40_000);
    expect(ran.outcome.code).toBe(0);
    expect(ran.requests.length).toBe(2);
    expect(ran.files["lib/engine.py"]).toBe(files["lib/engine.py"].replace(edit[0], edit[1]));
  });

  test.each([
    ["in one line", "set the port of service 14711 to 9000", (text: string) => text],
    ["in many lines", "the machine 10.0.57.119 listens on 9000 now", (text: string) => text.replaceAll("},{", "},\n{")],
  ])("shows of 1.5 MB of data %s what the request names by a number", async (_, task, spread) => {
    const services = Array.from({ length: 24_000 }, (_, id) => ({ id, host: `10.0.${id >> 8}.${id % 256}`, port: 80 }));
    const data = spread(JSON.stringify({ services }));
    const before = '"id":14711,"host":"10.0.57.119","port":80';
    const after = before.replace("80", "9000");
    const ran = await play({
      files: { "app.json": data },
      task,
      lines: [planTo("MODIFY app.json"), modify("app.json", [`${before}\n`, `${after}\n`]) + finish()],
    });
    expect(ran.told(2)).toContain(before);
    expect(lengthOf(ran, 2)).toBeLessThan(40_000);
    expect([ran.outcome.code, ran.requests.length]).toEqual([0, 2]);
    expect(ran.files["app.json"]).toBe(data.replace(before, after));
  });

  test("shows the line that the request gives by its number", async () => {
    const ran = await changing(large, "rename the variable at a.py:2018", [403, "404"], one);
    expect(ran.told(2)).toContain("value = value + 403");
    expect(ran.outcome.code).toBe(0);
  });

  test("shows the ranges that looks before the plan and in the plan have read, once", async () => {
    const look = planTo("READ a.py:1501-1510");
    const both = planTo("READ a.py:2501-2510", "MODIFY a.py");
    const ran = await changing(large, "tidy up", [300, "301"], look, both);
    for (const line of ["value = value + 300\n", "value = value + 500\n"])
      expect(ran.told(3).split(line).length).toBe(2);
    expect(ran.outcome.code).toBe(0);
  });

  test("names ranges that were looked at and do not fit", async () => {
    const steps = ["READ a.py:1-2000", "READ a.py:3001-5000", "READ a.py:2501-2510", "MODIFY a.py"];
    const ran = await changing(large, "tidy up", [500, "501"], planTo(...steps));
    expect(ran.asked(2)).toMatch(/note="not shown: lines [\d, -]*-2000; read what you need of them"/);
    expect(ran.asked(2)).toContain("value = value + 500");
  });

  test("shows all of it up to 100 KB, and where the plan writes the file anew", async () => {
    const small = module(1200);
    const told = (await changing(small, "do it", [7, "8"], one)).told(2);
    for (const line of small.split("\n").filter((each) => each.startsWith("def ")))
      expect(told.split(`${line}\n`).length).toBe(2);
    const cut = await changing(large, "do it", [7, "8"], one);
    expect(cut.told(2)).toContain('<file path="a.py" shown="parts of ');
    const lines = [planTo("WRITE a.py"), write("a.py", rewritten) + finish()];
    const anew = await play({ files: { "a.py": large }, lines });
    expect(anew.told(2)).toContain(`<file path="a.py">\n${large}`);
    expect(anew.files["a.py"]).toBe(rewritten);
  });

  test("counts each file as a whole, also where a look has shown half of it", async () => {
    const files = { "a.py": module(700), "b.py": module(800) };
    const ran = await play({
      files,
      lines: [
        planTo("READ a.py:1-1500"),
        planTo("MODIFY a.py", "MODIFY b.py"),
        modify("a.py", ["    value = value + 7\n", "    value = value + 8\n"]) + finish(),
        finish(),
      ],
    });
    expect(files["a.py"].length + files["b.py"].length).toBeGreaterThan(100_000);
    expect(ran.asked(3)).toContain('<file path="a.py" shown="the rest of 3500 lines">');
    expect(ran.asked(3)).toContain('<file path="b.py" shown="parts of 4000 lines"');
  });

  describe("shares the room that is left among the files that do not fit whole", () => {
    const linesOf = (name: string, count: number) =>
      Array.from({ length: count }, (_, n) => `    value = value * 3  # ${name} ${n} ${"why ".repeat(8)}\n`);
    const long = (name: string, count: number) =>
      `def ${name}(value):\n${linesOf(name, count).join("")}    return value\n\n`;
    const sources = (count: number) => ({
      "a.py": module(1000),
      "b.py": module(1300) + long("widen", count),
      "c.py": module(1400) + long("narrow", count),
    });
    const ask = (files: Readonly<Record<string, string>>) =>
      play({
        files,
        task: "widen() and narrow() multiply too often",
        lines: [
          plan({ steps: Object.keys(files).map((path) => `MODIFY ${path}`) }),
          modify("a.py", ["    value = value + 7\n", "    value = value + 8\n"]) + finish(),
          finish(),
        ],
      });

    test("beside the parts of tests", async () => {
      const ofTest = (n: number) =>
        `def test_step_${n}():\n    # ${"a comment ".repeat(8)}\n    assert step_${n}(1)\n\n`;
      const tests = `import a\n\n\n${Array.from({ length: 350 }, (_, n) => ofTest(n)).join("")}`;
      const alone = (await ask(sources(165))).told(2);
      const beside = (await ask({ ...sources(165), "tests/test_a.py": tests })).told(2);
      expect(beside).toContain('<file path="tests/test_a.py" shown="parts of ');
      expect(beside.length - alone.length).toBeLessThan(6_000);
    });
  });

  test("beside source, tests come by imports, nearest tests and end, a changelog by its head, never the source", async () => {
    const aside = `    # ${"a comment ".repeat(6)}\n`;
    const tests = Array.from(
      { length: 350 },
      (_, n) => `def test_step_${n}():\n${aside}    assert step_${n}(1) == ${n + 1}\n\n`,
    );
    const log = Array.from({ length: 900 }, (_, n) => `## 1.${900 - n}.0\n\n- A change of release ${900 - n}\n\n`);
    const files = {
      "lib/engine.py": module(500),
      "tests/test_engine.py": `import engine\n\n\n${tests.join("")}`,
      "CHANGES.md": `# Changes\n\n${log.join("")}`,
    };
    const steps = ["MODIFY lib/engine.py", "MODIFY tests/test_engine.py", "MODIFY CHANGES.md"];
    const edit = modify("lib/engine.py", ["    value = value + 300\n", "    value = value + 301\n"]) + finish();
    const ran = await play({ files, task: "step_300 is off by one", lines: [planTo(...steps), edit, finish()] });
    const asked = ran.told(2);
    for (const n of [0, 250, 499]) expect(asked).toContain(`def step_${n}(value):`);
    for (const n of [300, 349]) expect(asked).toContain(`def test_step_${n}():`);
    for (const part of ["import engine", "## 1.900.0", "test_step_250 "]) expect(asked).toContain(part);
    for (const part of ["def test_step_120():", "## 1.898.0"]) expect(asked).not.toContain(part);
  });

  test("is not enough to write it anew: READ is, and shows all of it", async () => {
    const ran = await play({
      files: { "a.py": large },
      lines: [
        plan({ steps: ["MODIFY a.py"], complexity: "complex" }),
        write("a.py", rewritten) + finish(),
        "READ::a.py\n",
        write("a.py", rewritten) + finish(),
      ],
    });
    expect(ran.asked(3)).toContain("a.py exists and was not shown to you whole");
    expect(ran.asked(4)).toContain('<file path="a.py" shown="the rest of 8000 lines">');
    const told = ran.told(4);
    for (const line of large.split("\n").filter((each) => each.startsWith("def ")))
      expect(told.split(`\n${line}\n`).length).toBe(2);
    expect(ran.files["a.py"]).toBe(rewritten);
  });

  test("shows in a third phase what has changed in it", async () => {
    const ran = await play({
      files: { "a.py": large, "b.py": "y = 2\n" },
      lines: [
        plan({ steps: ["MODIFY a.py", "MODIFY b.py"], complexity: "complex" }),
        modify("a.py", ["value + 444\n", "value + 445 - 1\n"]) + finish(),
        modify("b.py", ["none\n", "y = 9\n"]) + finish(),
        modify("b.py", ["y = 2\n", "y = 3\n"]) + finish(),
      ],
    });
    expect(ran.asked(2)).not.toContain("value = value + 444");
    expect(ran.asked(3)).toContain("+    value = value + 445 - 1");
    expect(ran.told(4).split("value = value + 445 - 1").length).toBe(2);
  });

  test("shows no secret of it, also where the blocks are cut", async () => {
    const secret = ["ghp", "a8Kd02mVq7RtYx31LpWz5NcJ4hBsGfTe6UoQ"].join("_");
    const file = module(600, (n) => (n === 300 ? `deploy token = "${secret}"` : "work"));
    const ran = await changing(file, "rename the deploy token", [300, "301"], one);
    expect(ran.told(2)).toContain("deploy token");
    expect(JSON.stringify(ran.requests)).not.toContain(secret);
    expect(ran.files["a.py"]).toContain(secret);
  });

  test("counts in the promise what it will be shown", async () => {
    const promised = async (step: string) => {
      const lines = [planTo(step)];
      const ran = await play({ files: { "a.py": large }, lines, options: { planOnly: true } });
      return ran.eventsOf("plan.ready")[0]?.promise.tokens ?? 0;
    };
    const base = await promised("MODIFY other.py");
    const edited = (await promised("MODIFY a.py")) - base;
    expect(edited).toBeGreaterThan(1000);
    expect((await promised("WRITE a.py")) - base).toBeGreaterThan(edited * 1.2);
  });
});

test("a file whose last line has no line feed is shown as such", async () => {
  const files = { crontab: "1 2 * * * true", "b.txt": "b\n" };
  const ran = await play({
    files,
    task: "why is crontab ignored?",
    lines: [planTo("READ crontab", "WRITE c.txt"), write("c.txt", "c\n") + finish()],
  });
  expect(ran.told(1)).toContain('<file path="crontab" end="no line feed">\n1 2 * * * true\n</file>');
  expect(ran.told(1)).toContain('<file path="b.txt">\n');
});

test("of a long changelog a READ without lines shows the head, in a look and in the work", async () => {
  const old = Array.from({ length: 600 }, (_, at) => `- entry ${at} ${"x".repeat(99)}`).join("\n");
  const changes = `# Changes\n\n## 2.0\n\n- the newest\n\n## 1.0\n\n${old}\n`;
  const lines = [
    planTo("READ CHANGELOG.md"),
    planTo("WRITE a.txt", "READ CHANGELOG.md"),
    "READ::CHANGELOG.md\nREAD::CHANGELOG.md:600-600\n",
    write("a.txt", "x\n") + finish(),
  ];
  const ran = await play({ files: { "CHANGELOG.md": changes, "b.txt": "b\n" }, task: "write a.txt", lines });
  expect(ran.outcome.code).toBe(0);
  expect(ran.asked(2)).toContain("the newest");
  expect(ran.asked(2)).toContain("READ::CHANGELOG.md::7-608 shows more");
  expect(ran.told(4)).toContain("- entry 591");
  for (const n of [2, 3, 4]) expect(ran.told(n)).not.toContain("entry 300");
});
