/** The change guard lets moved code through, and nothing that only looks like it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { expectCpu } from "../cpu-time.ts";
import { change, judgeChanges, lines, rulesOf } from "./judging.ts";

describe("moved code", () => {
  const functionsOf = (from: number, count: number, prefix = "") =>
    Array.from({ length: count }, (_, i) => {
      const n = from + i;
      return `${prefix}function part${n}(input) {\n  const value${n} = input + ${n};\n  // step ${n}\n  return value${n};\n}\n\n`;
    }).join("");
  const whole = functionsOf(0, 100);

  test("splitting a 600-line file into modules passes", () => {
    const since = [
      change("app.js", whole, 'import { part0 } from "./a.js";\nimport { part50 } from "./b.js";\n\nmain();\n'),
      change("a.js", null, functionsOf(0, 50, "export ")),
      change("b.js", null, functionsOf(50, 50, "export ")),
    ];
    expect(rulesOf(since)).toEqual([]);
    expect(rulesOf(since.slice(0, 1), { earlier: since.slice(1) })).toEqual([]);
  });

  test("moved code may be indented anew", () => {
    const wrapped = `class Parts {\n${whole.replace(/^(?=.)/gm, "    ")}}\n`;
    expect(rulesOf([change("app.js", whole, "new Parts();\n"), change("parts.js", null, wrapped)])).not.toContain(
      "app.js refused size",
    );
  });

  test("the same split without the modules is refused", () => {
    expect(rulesOf([change("app.js", whole, 'import "./a.js";\n')])).toEqual([
      "app.js refused size",
      "app.js refused deletion",
      "app.js refused definitions",
    ]);
  });

  test("nothing has moved to a file that is refused itself", () => {
    const module = `${functionsOf(0, 100, "export ")}// ... rest of code unchanged ...\n`;
    const app = change("app.js", whole, "main();\n");
    expect(rulesOf([app, change("a.js", null, module)])).toEqual(["a.js refused placeholder"]);
    expect(rulesOf([app])).toEqual(["app.js refused size", "app.js refused deletion", "app.js refused definitions"]);
  });

  describe("that an earlier batch put into a new file", () => {
    const earlier = [change("app.js", whole, "main();\n"), change("a.js", null, whole), change("b.js", "", "b();\n")];

    test("cannot be overwritten or deleted later, though the source is not touched", () => {
      const refused = ["a.js refused size", "a.js refused deletion", "a.js refused definitions"];
      expect(rulesOf([change("a.js", whole, "gone();\n")], { earlier })).toEqual(refused);
      expect(rulesOf([change("a.js", whole, null)], { earlier })).toEqual(refused);
      expect(judgeChanges([change("a.js", whole, null)], { earlier })[0]?.text).toStartWith(
        "a.js: this takes away what an earlier step moved here from another file. app.js: 601 lines changed",
      );
    });

    test("may be corrected, moved on and split again", () => {
      expect(rulesOf([change("a.js", whole, whole.replace("step 1", "first step"))], { earlier })).toEqual([]);
      const moved = [change("c.js", null, whole, "a.js"), change("a.js", whole, null)];
      expect(rulesOf(moved, { earlier })).toEqual([]);
      expect(
        rulesOf([change("a.js", whole, functionsOf(0, 50)), change("c.js", null, functionsOf(50, 50))], { earlier }),
      ).toEqual([]);
    });

    test("is not a matter of those who do not touch it", () => {
      const batch = [change("a.js", whole, null), change("b.js", "b();\n", "c();\n")];
      expect([...new Set(judgeChanges(batch, { earlier }).map(({ path }) => path as string))]).toEqual(["a.js"]);
    });
  });

  test("a file that moves twice is still judged against what it was", () => {
    const steps = (end: string) => [
      change("b.js", null, whole, "a.js"),
      change("a.js", whole, null),
      change("c.js", null, whole, "b.js"),
      change("b.js", whole, null),
      change("c.js", whole, end),
    ];
    const texts = ["MV a.js: move it to c.js"];
    expect(rulesOf(steps(functionsOf(100, 100)), { texts })).toContain("c.js refused size");
    expect(rulesOf(steps(whole.replace("step 1", "first step")), { texts })).toEqual([]);
  });

  test("a plain move is nothing to judge", () => {
    expect(rulesOf([change("a.js", whole, null), change("b.js", null, whole, "a.js")])).toEqual([]);
    expect(rulesOf([change("a.js", whole, null), change("b.js", null, whole)])).toEqual([]);
  });

  test("lines in another order have moved", () => {
    const sorted = lines(600);
    const reversed = `${sorted.trim().split("\n").reverse().join("\n")}\n`;
    expect(rulesOf([change("a.txt", sorted, reversed)])).toEqual([]);
  });
});

test("property: a split into new files is never too large, however the lines are dealt out", () => {
  const dealt = fc.array(fc.tuple(fc.constantFrom("}", "", "x = 1", "a", "b"), fc.nat(3)), { maxLength: 200 });
  fc.assert(
    fc.property(dealt, (deal) => {
      const part = (n: number) =>
        deal
          .filter(([, to]) => to === n)
          .map(([line]) => `${line}\n`)
          .join("");
      const old = deal.map(([line]) => `${line}\n`).join("");
      const since = [change("a", old, part(0)), ...[1, 2, 3].map((n) => change(`part${n}`, null, part(n)))];
      expect(rulesOf(since, { limits: { lines: 0 } })).toEqual([]);
    }),
  );
});

test("judges the move of a folder of 1,000 files quickly", () => {
  const batch = Array.from({ length: 1000 }, (_, n) => {
    const text = `export function f${n}() {}\n`.repeat(50);
    return [change(`b/${n}.ts`, null, text, `a/${n}.ts`), change(`a/${n}.ts`, text, null)];
  }).flat();
  expectCpu(2000, () => expect(rulesOf(batch)).toEqual([]));
});
