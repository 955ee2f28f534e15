/** A replay takes what looks, memory and mentions brought from the receipt, whatever became of the files since. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { factsOf } from "../../src/core/receipt.ts";
import { hybrid } from "../../src/flows/auto.ts";
import { singleShot } from "../../src/flows/single-shot.ts";
import { toolLoop } from "../../src/flows/tool-loop/tool-loop.ts";
import { finish, modify, plan } from "../flows/plans.ts";
import { inFolder, openCache } from "../flows/scripted.ts";
import { idOf, receiptsOf, record, replay } from "./recorded.ts";

const change = (search: string, put: string) => [
  plan({ steps: ["MODIFY a.txt"] }),
  modify("a.txt", [`${search}\n`, `${put}\n`]) + finish(),
];

/** Files enough that only the likeliest are shown. */
const many = Object.fromEntries(
  Array.from({ length: 60 }, (_, n) => [`src/part${n}.py`, `value = ${n}\n`.repeat(400)]),
);

test.each([
  ["single-shot", singleShot],
  ["auto", hybrid],
])("what looks found comes from the receipt, whatever became of the files since: %s", async (mode, flow) => {
  const look = (target: string) => plan({ steps: [`READ ${target}`, "SEARCH value = 31"] });
  const lines = [look("src/part30.py:3-4"), look("src/gone.py"), ...change("one", "two")];
  await inFolder({ "a.txt": "one\n", ...many }, async (place) => {
    await record(place, { task: "change a.txt", lines, flow, options: { mode } });
    const { facts } = (await receiptsOf(place)).read(idOf(1));
    const found = factsOf(facts, "look").map(({ action, code }) => `${action} ${code}`);
    expect(found.toSorted()).toEqual(["READ file_unusable", "READ null", "SEARCH null", "SEARCH null"]);
    for (const n of [30, 31]) writeFileSync(join(place.root, `src/part${n}.py`), "somebody else's\n");
    const replayed = await replay(place);
    expect([replayed.difference, replayed.differing, replayed.changed]).toEqual([null, [], 1]);
  });
});

const readCall = { id: "1", name: "read", input: { path: "src/part30.py" } };
const editCall = { id: "2", name: "edit", input: { path: "a.txt", old_str: "one", new_str: "two" } };

test.each([
  [
    "single-shot",
    singleShot,
    [
      plan({ steps: ["MODIFY a.txt"], complexity: "moderate" }),
      "READ::src/part30.py::1-2\n",
      modify("a.txt", ["one\n", "two\n"]) + finish(),
    ],
  ],
  ["tool-loop", toolLoop, [{ text: "", calls: [readCall] }, { text: "", calls: [editCall] }, "Done."]],
] as const)("so does what a reply of the work looked at: %s", async (mode, flow, lines) => {
  await inFolder({ "a.txt": "one\n", ...many }, async (place) => {
    await record(place, { task: "change a.txt", lines, flow, options: { mode } });
    writeFileSync(join(place.root, "src/part30.py"), "somebody else's\n");
    const replayed = await replay(place);
    expect([replayed.difference, replayed.differing, replayed.changed]).toEqual([null, [], 1]);
  });
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
  await inFolder({ "a.txt": "one\n" }, async (place) => {
    const lines = [
      plan({ steps: ["MODIFY a.txt"] }),
      `${modify("a.txt", ["one\n", "two\n"])}${finish("Done.\nREMEMBER: numbers are words")}`,
    ];
    await record(place, { lines, memory });
    expect(kept).toEqual(["numbers are words"]);
    expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
    expect(kept).toEqual(["numbers are words"]);
  });
});

test("files that were named with @ are shown again", async () => {
  await inFolder({ "a.txt": "one\n", ...many }, async (place) => {
    await record(place, { task: "like @src/part30.py", mentioned: ["src/part30.py"], lines: change("one", "two") });
    expect(await replay(place)).toMatchObject({ differing: [], difference: null, changed: 1 });
  });
});

test("a plan of the cache and the looks before it come from the receipt", async () => {
  const planCache = openCache();
  const look = plan({ steps: ["READ src/part30.py:3-4"] });
  const [made = "", script = ""] = change("one", "two");
  await inFolder({ "a.txt": "one\n", ...many }, async (place) => {
    await record(place, { lines: [look, made, script], planCache }, 1);
    writeFileSync(join(place.root, "a.txt"), "one\n");
    const { calls } = await record(place, { lines: [script], planCache }, 2);
    expect(calls.made).toBe(1);
    writeFileSync(join(place.root, "src/part30.py"), "somebody else's\n");
    for (const n of [1, 2])
      expect(await replay(place, n)).toMatchObject({ differing: [], difference: null, changed: 1 });
  });
});
