/** Whatever a run does batch by batch, it has done nothing that it might not have done at once. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Change, squash } from "../../../src/core/change.ts";
import { type GuardLimits, judge } from "../../../src/core/guard/guard.ts";
import { change } from "./judging.ts";

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
