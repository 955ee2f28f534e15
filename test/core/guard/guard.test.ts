/** The change guard stops what is too large or loses code. */
import { describe, expect, test } from "bun:test";
import type { Change } from "../../../src/core/change.ts";
import type { RelPath } from "../../../src/core/path.ts";
import { lines } from "../../flows/long-files.ts";
import { change, file } from "../changes.ts";
import { judgeChanges, rulesOf } from "./judging.ts";

describe("size", () => {
  const replace = (total: number, count: number) =>
    change("a.txt", lines(total), lines(count, "other") + lines(total - count, "line", count));

  test("keeps the measured limits of the original (paicode 1.9)", () => {
    const passing = { 10: 10, 250: 250, 1200: 300, 5000: 1250 };
    for (const [total, count] of Object.entries(passing)) expect(rulesOf([replace(Number(total), count)])).toEqual([]);
    for (const [total, count] of Object.entries({ 251: 251, 1200: 301 }))
      expect(rulesOf([replace(Number(total), count)])).toEqual(["a.txt refused size"]);
  });

  test("new files and content in an empty file are free", () => {
    for (const old of [null, "", "\n"]) expect(rulesOf([change("a.txt", old, lines(3000))])).toEqual([]);
  });

  test("counts over the whole run: many small edits add up", () => {
    const states = Array.from({ length: 21 }, (_, i) => lines(i * 20, "other") + lines(400 - i * 20, "line", i * 20));
    const edits = states.slice(1).map((after, i) => change("a.txt", states[i] ?? "", after));
    expect(rulesOf(edits.slice(0, 12))).toEqual([]);
    expect(rulesOf(edits)).toEqual(["a.txt refused size"]);
  });

  test("sees delete and write as a change of the file", () => {
    const since = [change("a.txt", lines(400), null), change("a.txt", null, lines(400, "other"))];
    expect(rulesOf(since)).toEqual(["a.txt refused size"]);
    expect(rulesOf(since, { deletes: ["a.txt"] })).toEqual(["a.txt refused size"]);
  });

  test("sees a move over a file, and an edit after a move, as a change of the file", () => {
    const over = [change("b.txt", lines(600, "b"), null), change("a.txt", lines(600, "a"), lines(600, "b"), "b.txt")];
    expect(rulesOf(over)).toContain("a.txt refused size");
    const moved = [change("a.txt", lines(600, "a"), null), change("b.txt", null, lines(600, "b"), "a.txt")];
    expect(rulesOf(moved)).toContain("b.txt refused size");
  });

  test("one huge line counts by its length", () => {
    const since = [change("a.txt", lines(600), `${lines(600)}${"x".repeat(400_000)}\n`)];
    expect(rulesOf(since)).toEqual(["a.txt refused size"]);
    expect(rulesOf([change("min.js", "x".repeat(400_000), "y".repeat(400_000))])).toEqual(["min.js refused size"]);
  });

  test("of one huge line only the parts count that change", () => {
    const items = (word: string) => Array.from({ length: 60_000 }, (_, at) => `{"id":"${word}${at}","name":"${word}"}`);
    const data = (port: number, word = "item") => `{"items":[${items(word).join(",")}],"port":${port},"end":1}`;
    expect(rulesOf([change("a.json", data(8080), data(9090))])).toEqual([]);
    expect(rulesOf([change("a.json", data(8080), data(8080, "thing"))])).toEqual(["a.json refused size"]);
    expect(rulesOf([change("a.json", data(8080), '{"port":8080}')])).toContain("a.json refused deletion");
  });

  test("changed line ends are changed lines", () => {
    const ended = change("a.txt", lines(600), lines(600).replaceAll("\n", "\r\n"));
    expect(rulesOf([ended])).toEqual(["a.txt refused size"]);
    expect(rulesOf([ended, change("b.txt", "b\n", "c\n")])).toEqual(["a.txt refused size"]);
  });

  test("binary content cannot slip through", () => {
    const bytes = (fill: number) => file(new Uint8Array(400_000).fill(fill).fill(0, 0, 1));
    const since: Change = { path: "x.bin" as RelPath, before: bytes(1), after: bytes(2), from: null };
    expect(rulesOf([since])).toEqual(["x.bin refused size"]);
  });

  test("judges only the files of the batch", () => {
    const batch = [change("b.txt", "x\n", "y\n")];
    expect(rulesOf(batch, { earlier: [replace(600, 600)] })).toEqual([]);
  });
});

describe("deletion", () => {
  test("over half of a file needs the plan's word, in a small one a person's", () => {
    const since = [change("src/a.txt", lines(40), lines(19))];
    expect(rulesOf(since)).toEqual(["src/a.txt refused deletion"]);
    expect(rulesOf([change("a.txt", lines(40), lines(20))])).toEqual([]);
    expect(rulesOf([change("a.txt", lines(20), "")])).toEqual(["a.txt ask deletion"]);
    expect(rulesOf([change("a.txt", lines(8), lines(3))])).toEqual([]);
    expect(rulesOf(since, { texts: ["MODIFY src/a.txt: remove the old entries"] })).toEqual([]);
    expect(rulesOf(since, { texts: ["MODIFY src/a.txt: hapus bagian lama"] })).toEqual([]);
    expect(rulesOf(since, { texts: ["MODIFY src/a.txt: add an entry", "remove things from b.txt"] })).toEqual([
      "src/a.txt refused deletion",
    ]);
  });

  test("a name that sounds like a deletion is not the plan's word", () => {
    const since = [change("remove-user.txt", lines(40), lines(10))];
    const texts = ["MODIFY remove-user.txt: add clearly written docs, a movie and a shortcut"];
    expect(rulesOf(since, { texts })).toEqual(["remove-user.txt refused deletion"]);
  });

  test("a file or folder that the plan deletes may go, others not", () => {
    const since = [change("lib/a.py", `def a():\n  pass\n${lines(900)}`, null)];
    expect(rulesOf(since, { deletes: ["lib/a.py"] })).toEqual([]);
    expect(rulesOf(since, { deletes: ["lib/"] })).toEqual([]);
    expect(rulesOf(since, { deletes: ["lib/a", "li"] })).toEqual(["lib/a.py refused deletion"]);
  });

  test("a rewrite of the same length is not a deletion", () => {
    expect(rulesOf([change("a.txt", lines(100), lines(100, "other"))])).toEqual([]);
  });
});

describe("definitions", () => {
  const source = "def one():\n  pass\ndef two():\n  pass\ndef three():\n  pass\ndef four():\n  pass\n";

  test("losing three that are neither moved nor named is refused, and names them", () => {
    const [verdict] = judgeChanges([change("a.py", source, "def one():\n  pass\n")]);
    expect(verdict?.rule).toBe("definitions");
    expect(verdict?.text).toContain("two, three, four");
    expect(rulesOf([change("a.py", source, "def one():\n  pass\ndef two():\n  pass\n")])).toEqual([]);
  });

  test("named, moved or renamed definitions are not lost", () => {
    const gone = change("a.py", source, "def one():\n  pass\n");
    expect(rulesOf([gone], { texts: ["drop the helper two() from a.py"] })).toEqual([]);
    const refused = "a.py refused definitions";
    expect(rulesOf([gone, change("b.py", null, "def two(x):\n  return x\n")])).not.toContain(refused);
    const kept = change("b.py", "def two():\n  pass\n", "def two():\n  return 1\n");
    expect(rulesOf([gone, kept])).toEqual([refused, "a.py ask deletion"]);
    expect(rulesOf([change("a.py", source, source.replaceAll("def ", "def new_"))])).toEqual([]);
  });
});

describe("placeholders and secrets", () => {
  test("an omission placeholder the old file did not have is refused, in new files too", () => {
    const placeholder = "// ... rest of the code unchanged ...\n";
    expect(rulesOf([change("a.js", "a();\n", `a();\n${placeholder}`)])).toEqual(["a.js refused placeholder"]);
    expect(rulesOf([change("a.js", null, placeholder)])).toEqual(["a.js refused placeholder"]);
    expect(rulesOf([change("a.js", `a();\n${placeholder}`, `b();\n  ${placeholder}`)])).toEqual([]);
  });

  test("a new secret is a question that does not show it", () => {
    const key = `AIza${"Sy4kQ8Zp1LmW7xT".repeat(3).slice(0, 35)}`;
    const [verdict] = judgeChanges([change("a.js", "a();\n", `a();\nconst k = "${key}";\n`)]);
    expect(verdict).toMatchObject({ verdict: "ask", rule: "secret" });
    expect(verdict?.text).toContain("line 2: Google key)");
    expect(verdict?.text).not.toContain(key.slice(0, 4));
    expect(verdict?.text).not.toContain(key);
    expect(rulesOf([change("a.js", `k = "${key}"\n`, `key = "${key}"\n`)])).toEqual([]);
    expect(rulesOf([change("a.js", `k = "${key}"\n`, "\n"), change("b.js", null, `k = "${key}"\n`)])).toEqual([]);
  });
});
