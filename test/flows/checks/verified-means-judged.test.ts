/** "verified" means that checks judged what is on disk, also where a check, or somebody else, changes files meanwhile. */
import { expect, test } from "bun:test";
import { finish, plan, write } from "../plans.ts";
import { play } from "../scripted.ts";

const files = {
  "g.txt": "g\n",
  ".gitignore": "out.txt\n",
  "out.txt": "1\n",
  "target/report.xml": "1\n",
  "old.log": "1\n",
  ".github/workflows/ci.yml": "on: push\n",
};
const lines = [
  plan({ steps: ["WRITE f.txt"] }),
  write("f.txt", "good \n") + finish(),
  finish("I give up."),
  finish("I give up."),
];

/** Plays a run with these checks: how it ended, what was told of the checks, and two files as they are then. */
async function check(...checks: readonly string[]) {
  const ran = await play({ files, lines, options: { checks, baseline: false } });
  const told = ran.eventsOf("notice").flatMap(({ code }) => (code.startsWith("checks_") ? [code] : []));
  const { status, code, unsettled } = ran.outcome;
  return { status, code, unsettled, told, f: ran.files["f.txt"], g: ran.files["g.txt"] };
}

const settles = ["checks_again"];
const never = ["checks_again", "checks_change"];

test.each([
  [
    "breaks the file for an earlier one fails the run",
    ["grep -q good f.txt", "echo bad > f.txt"],
    { code: 9, told: settles, f: undefined },
  ],
  [
    "brings the file into its form is verified on the second round",
    ["sed -i 's/ $//' f.txt; grep -q good f.txt"],
    { status: "verified", told: settles, f: "good\n" },
  ],
  [
    "changes the file each time verifies nothing",
    ["grep -q good f.txt", "echo more >> f.txt"],
    { status: "unverified", unsettled: ["f.txt"], told: never, f: "good \nmore\nmore\n" },
  ],
  [
    "formats other files settles in the second round",
    ["grep -q good f.txt", "echo formatted > g.txt; date +%N > report.xml"],
    { status: "verified", told: settles, g: "formatted\n" },
  ],
  [
    "spoils another file for an earlier one fails the run",
    ["grep -q g g.txt", "echo bad > g.txt"],
    { code: 9, told: settles, g: "g\n" },
  ],
  [
    "changes another file each time verifies nothing",
    ["grep -q good f.txt", "echo more >> g.txt"],
    { status: "unverified", unsettled: ["g.txt"], told: never },
  ],
] as const)("a check that %s", async (_, checks, ended) => {
  expect(await check(...checks)).toMatchObject(ended);
});

test.each([
  ["makes files", "echo x >> log.txt"],
  ["changes ignored files", "echo x >> out.txt"],
  ["changes what tools build", "echo x >> target/report.xml; echo x >> old.log"],
  ["writes what was there", "cat g.txt > copy.txt; cat copy.txt > g.txt"],
  ["changes what pai takes back", "echo x >> .github/workflows/ci.yml"],
])("a check that %s runs once", async (_, command) => {
  expect(await check(`grep -q good f.txt; ${command}`)).toMatchObject({ status: "verified", told: [] });
});
