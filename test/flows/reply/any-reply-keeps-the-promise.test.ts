/** Whatever a model answers, in whatever order: the promise holds, and a run ends done or taken back. */
import { expect, test } from "bun:test";
import { finish, modify, plan, planTo, talk, write } from "../plans.ts";
import { type Line, play } from "../scripted.ts";

const files = { "a.txt": "one\ntwo\n", "b.txt": "b\n" };
const edit = modify("a.txt", ["one\n", "1\n"]);
const steps = ["MODIFY a.txt", "WRITE c.txt"];

const plans: readonly Line[] = [
  planTo(...steps),
  plan({ steps, complexity: "moderate" }),
  plan({ steps, complexity: "complex" }),
  planTo("WRITE ../c.txt"),
  planTo("READ a.txt"),
  talk("Hello."),
  { text: planTo(...steps).slice(0, 300), stop: "length" },
  "{}",
  "",
];
const replies: readonly Line[] = [
  edit + write("c.txt", "c\n") + finish(),
  edit + finish(),
  write("c.txt", "c\n"),
  finish("All done."),
  `${modify("a.txt", ["ten\n", "1\n"])}${write("c.txt", "c\n")}${finish()}`,
  `RM::b.txt\n${write("../d.txt", "d\n")}${edit}${finish()}`,
  { text: `${edit}WRITE::c.txt::EOT\nc`, stop: "length" },
  { text: "c\nEND::EOT\n", stop: "length" },
  "READ::b.txt\nSEARCH::one\n",
  "I cannot do this.",
  "WRITE::c.txt\nMODIFY::a.txt::EOT\nEND::EOT\nXYZ::1\n",
  "",
];

/** Pseudo-random picks that are the same in every run of the test. */
function chooser(seed: number) {
  let state = seed * 2_654_435_761 + 1;
  return <T>(from: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const chosen = from[Math.floor((state / 2 ** 32) * from.length)];
    if (chosen === undefined) throw new Error("nothing to choose from");
    return chosen;
  };
}

test("40 runs with replies drawn at random", async () => {
  const codes = new Map<number, number>();
  for (let seed = 0; seed < 40; seed += 1) {
    const choose = chooser(seed);
    const first = [choose(plans), choose(seed % 2 === 0 ? plans : replies)];
    const lines = [...first, ...Array.from({ length: 5 }, () => choose(replies))];
    const dryRun = seed % 10 === 0;
    const ran = await play({ files, lines, options: { dryRun } });
    const { code, ok, calls, changes, status } = ran.outcome;
    codes.set(code, (codes.get(code) ?? 0) + 1);
    expect(calls.made).toBe(ran.requests.length);
    expect(calls.made).toBeLessThanOrEqual(calls.at_most);
    expect(ok).toBe(code === 0);
    expect(ran.files["b.txt"]).toBe("b\n");
    if (status === "partial") expect(ran.outcome).toMatchObject({ code: 15, undone: [{}], changes: [{}] });
    else expect(changes.length).toBe(ok && status !== "answered" ? 2 : 0);
    if (changes.length === 0 || dryRun) expect(ran.files).toEqual(files);
    else if (ok) expect(ran.files).toEqual({ "a.txt": "1\ntwo\n", "b.txt": "b\n", "c.txt": "c\n" });
  }
  expect([...codes.keys()].sort((a, b) => a - b)).toEqual([0, 7, 8, 12, 15]);
});
