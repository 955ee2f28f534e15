/** "verified" means that checks judged what is on disk, also where a check, or somebody else, changes files meanwhile. */
import { expect, test } from "bun:test";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

const answers = [
  planned([["WRITE", "f.txt"]]),
  done(write("f.txt", "good \n")),
  done("", "I give up."),
  done("", "I give up."),
];

async function check(...commands: readonly string[]) {
  const files = {
    "g.txt": "g\n",
    ".gitignore": "out.txt\n",
    "out.txt": "1\n",
    "target/report.xml": "1\n",
    "old.log": "1\n",
    ".github/workflows/ci.yml": "on: push\n",
  };
  await using place = openPlace(answers, files);
  const flags = commands.flatMap((command) => ["--check", command]);
  const result = await place.pai(["run", "-y", "--json", "--no-baseline", ...flags, "write it"]);
  const { status, code, notices, unsettled } = readOutcome(result);
  const told = notices.map((notice) => notice.code).filter((name) => name.startsWith("checks_"));
  return { status, code, told, unsettled, text: place.read("f.txt"), other: place.read("g.txt") };
}

test.concurrent("a later check that breaks the file fails the run", async () => {
  expect(await check("grep -q good f.txt", "echo bad > f.txt")).toMatchObject({
    status: "failed",
    code: 9,
    told: ["checks_again"],
    text: null,
  });
});

test.concurrent("a check that brings the file into its form is verified on the second round", async () => {
  expect(await check("sed -i 's/ $//' f.txt; grep -q good f.txt")).toMatchObject({
    status: "verified",
    code: 0,
    told: ["checks_again"],
    text: "good\n",
  });
});

test.concurrent("a check that changes the file each time verifies nothing", async () => {
  expect(await check("grep -q good f.txt", "echo more >> f.txt")).toMatchObject({
    status: "unverified",
    unsettled: ["f.txt"],
    told: ["checks_again", "checks_change"],
    text: "good \nmore\nmore\n",
  });
});

test.concurrent("a formatter of other files settles in the second round, which judges what it wrote", async () => {
  expect(await check("grep -q good f.txt", "echo formatted > g.txt; date +%N > report.xml")).toMatchObject({
    ...{ status: "verified", code: 0, told: ["checks_again"], other: "formatted\n" },
  });
});

test.concurrent("a check that spoils another file for an earlier check fails the run", async () => {
  expect(await check("grep -q g g.txt", "echo bad > g.txt")).toMatchObject({
    ...{ status: "failed", code: 9, told: ["checks_again"], other: "g\n" },
  });
});

test.concurrent("a check that changes another file each time verifies nothing", async () => {
  expect(await check("grep -q good f.txt", "echo more >> g.txt")).toMatchObject({
    ...{ status: "unverified", unsettled: ["g.txt"], told: ["checks_again", "checks_change"] },
  });
});

test.concurrent.each([
  ["makes files", "echo x >> log.txt"],
  ["changes ignored files", "echo x >> out.txt"],
  ["changes what tools build", "echo x >> target/report.xml; echo x >> old.log"],
  ["writes what was there", "cat g.txt > copy.txt; cat copy.txt > g.txt"],
  ["changes what pai takes back", "echo x >> .github/workflows/ci.yml"],
])("a check that %s runs once", async (_name, command) => {
  expect(await check(`grep -q good f.txt; ${command}`)).toMatchObject({ status: "verified", told: [] });
});
