/** The guard over moves, and over a whole run. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Change, squash } from "../../../src/core/change.ts";
import { app, functions, lines } from "../../flows/long-files.ts";
import { change } from "../changes.ts";
import { judgeChanges, type Options, rulesOf } from "./judging.ts";

describe("moved code", () => {
  const allRules = (path: string) => ["size", "deletion", "definitions"].map((rule) => `${path} refused ${rule}`);

  test("splitting a 600-line file into modules passes", () => {
    const since = [
      change("app.js", app, 'import { part0 } from "./a.js";\nimport { part50 } from "./b.js";\n\nmain();\n'),
      change("a.js", null, functions(0, 50, "export ")),
      change("b.js", null, functions(50, 50, "export ")),
    ];
    expect(rulesOf(since)).toEqual([]);
    expect(rulesOf(since.slice(0, 1), { earlier: since.slice(1) })).toEqual([]);
  });

  test("moved code may be indented anew", () => {
    const wrapped = `class Parts {\n${app.replace(/^(?=.)/gm, "    ")}}\n`;
    expect(rulesOf([change("app.js", app, "new Parts();\n"), change("parts.js", null, wrapped)])).not.toContain(
      "app.js refused size",
    );
  });

  test("the same split without the modules is refused", () => {
    expect(rulesOf([change("app.js", app, 'import "./a.js";\n')])).toEqual(allRules("app.js"));
  });

  test("nothing has moved to a file that is refused itself", () => {
    const module = `${functions(0, 100, "export ")}// ... rest of code unchanged ...\n`;
    const main = change("app.js", app, "main();\n");
    expect(rulesOf([main, change("a.js", null, module)])).toEqual(["a.js refused placeholder"]);
    expect(rulesOf([main])).toEqual(allRules("app.js"));
  });

  describe("that an earlier batch put into a new file", () => {
    const earlier = [change("app.js", app, "main();\n"), change("a.js", null, app), change("b.js", "", "b();\n")];

    test("cannot be overwritten or deleted later, though the source is not touched", () => {
      for (const now of ["gone();\n", null])
        expect(rulesOf([change("a.js", app, now)], { earlier })).toEqual(allRules("a.js"));
      expect(judgeChanges([change("a.js", app, null)], { earlier })[0]?.text).toStartWith(
        "a.js: this takes away what an earlier step moved here from another file. app.js: 601 lines changed",
      );
    });

    test("may be corrected, moved on and split again", () => {
      expect(rulesOf([change("a.js", app, app.replace("step 1", "first step"))], { earlier })).toEqual([]);
      const moved = [change("c.js", null, app, "a.js"), change("a.js", app, null)];
      expect(rulesOf(moved, { earlier })).toEqual([]);
      const split = [change("a.js", app, functions(0, 50)), change("c.js", null, functions(50, 50))];
      expect(rulesOf(split, { earlier })).toEqual([]);
    });

    test("is not a matter of those who do not touch it", () => {
      const batch = [change("a.js", app, null), change("b.js", "b();\n", "c();\n")];
      expect([...new Set(judgeChanges(batch, { earlier }).map(({ path }) => path as string))]).toEqual(["a.js"]);
    });
  });

  test("a file that moves twice is still judged against what it was", () => {
    const steps = (end: string) => [
      change("b.js", null, app, "a.js"),
      change("a.js", app, null),
      change("c.js", null, app, "b.js"),
      change("b.js", app, null),
      change("c.js", app, end),
    ];
    const texts = ["MV a.js: move it to c.js"];
    expect(rulesOf(steps(functions(100, 100)), { texts })).toContain("c.js refused size");
    expect(rulesOf(steps(app.replace("step 1", "first step")), { texts })).toEqual([]);
  });

  test("a plain move is nothing to judge", () => {
    expect(rulesOf([change("a.js", app, null), change("b.js", null, app, "a.js")])).toEqual([]);
    expect(rulesOf([change("a.js", app, null), change("b.js", null, app)])).toEqual([]);
  });

  test("lines in another order have moved", () => {
    const sorted = lines(600);
    const reversed = `${sorted.trim().split("\n").reverse().join("\n")}\n`;
    expect(rulesOf([change("a.txt", sorted, reversed)])).toEqual([]);
  });
});

/** Of every four lines so many. */
const thin = (text: string, keep: number) =>
  text
    .split(/(?<=\n)/)
    .filter((_, at) => at % 4 < keep)
    .join("");
/** What one call does to a file: it becomes a part, or all, of one that the run began with, or goes (5). */
const step = fc.record({ path: fc.constantFrom("a", "b", "c", "d"), of: fc.nat(2), keep: fc.nat(5) });

type Tree = Readonly<Record<string, string | null>>;
type Step = (tree: Tree) => Change;

/** The steps that the guard lets through, as a run drops the others: whole, and then again. */
function passing(start: Tree, steps: readonly Step[], options: Options) {
  for (let open = steps; ; ) {
    let tree = start;
    const done = open.map((each) => {
      const made = each(tree);
      tree = { ...tree, [made.path]: made.after?.kind === "file" ? new TextDecoder().decode(made.after.bytes) : null };
      return made;
    });
    const batch = squash(done);
    const refused = new Set(judgeChanges(batch, options).map(({ path }) => path));
    if (refused.size === 0) return { tree, batch };
    const left = open.filter((_, at) => done[at] !== undefined && !refused.has(done[at].path));
    expect(left.length).toBeLessThan(open.length);
    open = left;
  }
}

test("property: what passes in many batches passes as one, and a refusal always names something to drop", () => {
  const sizes = fc.array(fc.nat(60), { minLength: 3, maxLength: 3 });
  const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 });
  const options = { limits: { lines: 12 }, texts: ["move it and remove a, b, c, d"] };
  fc.assert(
    fc.property(sizes, batches, (counts, run) => {
      const texts = counts.map((count, n) => lines(count, "line", 50 * n));
      let tree: Tree = Object.fromEntries(["a", "b", "c"].map((path, n) => [path, texts[n] ?? ""]));
      let earlier: readonly Change[] = [];
      for (const steps of run) {
        const made = steps.map(({ path, of, keep }): Step => {
          const after = keep === 5 ? null : thin(texts[of] ?? "", keep);
          return (before) => change(path, before[path] ?? null, after);
        });
        const passed = passing(tree, made, { ...options, earlier });
        [tree, earlier] = [passed.tree, [...earlier, ...passed.batch]];
        expect(judgeChanges(squash(earlier), options)).toEqual([]);
      }
    }),
    { numRuns: 1000 },
  );
});
