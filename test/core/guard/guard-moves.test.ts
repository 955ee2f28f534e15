/** The guard over moves, and over a whole run. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Change, squash } from "../../../src/core/change.ts";
import { type GuardLimits, judge } from "../../../src/core/guard/guard.ts";
import { change } from "../changes.ts";
import { expectCpu } from "../cpu-time.ts";
import { judgeChanges, lines, rulesOf } from "./judging.ts";

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

const names = ["a", "b", "c", "d"] as const;
type Tree = Readonly<Record<string, string | null>>;
/** What one call does to a tree; null: it does not fit. */
type Step = (tree: Tree) => readonly Change[] | null;

const name = fc.constantFrom(...names);
const text = (count: number, from: number) => Array.from({ length: count }, (_, n) => `line ${from + n}\n`).join("");
const half = (whole: string, keep: number) =>
  whole
    .split(/(?<=\n)/)
    .filter((_, at) => at % 4 < keep)
    .join("");

const write = fc.record({ path: name, count: fc.nat(40), from: fc.nat(200) }).map(
  ({ path, count, from }): Step =>
    (tree) => [change(path, tree[path] ?? null, text(count, from))],
);
const remove = name.map(
  (path): Step =>
    (tree) =>
      tree[path] == null ? null : [change(path, tree[path], null)],
);
const thin = fc.record({ path: name, keep: fc.nat(4) }).map(
  ({ path, keep }): Step =>
    (tree) =>
      tree[path] == null ? null : [change(path, tree[path], half(tree[path], keep))],
);
const move = fc.record({ from: name, to: name }).map(
  ({ from, to }): Step =>
    (tree) =>
      tree[from] == null || tree[to] != null
        ? null
        : [change(to, null, tree[from], from), change(from, tree[from], null)],
);
const copy = fc.record({ from: name, to: name }).map(
  ({ from, to }): Step =>
    (tree) =>
      tree[from] == null || from === to ? null : [change(to, tree[to] ?? null, tree[from])],
);
const step = fc.oneof(write, remove, thin, move, copy);

const textOf = ({ after }: Change) => (after?.kind === "file" ? new TextDecoder().decode(after.bytes) : null);
const applied = (tree: Tree, changes: readonly Change[]): Tree => ({
  ...tree,
  ...Object.fromEntries(changes.map((each) => [each.path, textOf(each)])),
});

/** The calls of a batch that the guard lets through, as a run would drop the others: whole, and then again. */
function judgeBatch(
  start: Tree,
  earlier: readonly Change[],
  steps: readonly Step[],
  input: Pick<Parameters<typeof judge>[0], "limits" | "planned">,
) {
  let open = [...steps];
  for (;;) {
    let tree = start;
    const done: { readonly step: Step; readonly changes: readonly Change[] }[] = [];
    for (const each of open) {
      const changes = each(tree) ?? [];
      tree = applied(tree, changes);
      done.push({ step: each, changes });
    }
    const batch = squash(done.flatMap(({ changes }) => changes));
    const refused = new Set(judge({ earlier, batch, ...input }).map(({ path }) => path));
    if (refused.size === 0) return { tree, batch };
    open = done.filter(({ changes }) => !changes.some(({ path }) => refused.has(path))).map((each) => each.step);
  }
}

test("property: what passes in many batches passes as one, and a refusal always names something to drop", () => {
  const limits: GuardLimits = { lines: 12 };
  const planned = { by: "plan" as const, deletes: [], texts: ["move it and remove a, b, c, d"] };
  let batches = 0;
  fc.assert(
    fc.property(
      fc.array(fc.nat(60), { minLength: 4, maxLength: 4 }),
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      (sizes, run, strict) => {
        let tree: Tree = Object.fromEntries(names.map((path, n) => [path, n < 3 ? text(sizes[n] ?? 0, 50 * n) : null]));
        const input = { limits: { ...limits, strict }, planned };
        let earlier: readonly Change[] = [];
        for (const steps of run) {
          const { tree: next, batch } = judgeBatch(tree, earlier, steps, input);
          tree = next;
          earlier = [...earlier, ...batch];
          batches += 1;
          expect(judge({ earlier: [], batch: squash(earlier), ...input })).toEqual([]);
        }
      },
    ),
    { numRuns: 1000 },
  );
  expect(batches).toBeGreaterThan(2000);
});
