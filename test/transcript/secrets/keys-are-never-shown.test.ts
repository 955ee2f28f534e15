/** Keys are never shown, and settings of the machine open nothing that holds them. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Need, needs } from "../../needs.ts";
import { readOutcome } from "../contract.ts";
import { configure, openPlace, type Place, readTree } from "../harness.ts";
import { done, hello, planned, write } from "../replies.ts";
import { openRaw } from "../screen.ts";

/** No key by its looks: only who holds it knows it. */
const key = "local+secret/value-4711-for-tests";
const bytes = Buffer.from(key);
const spellings = [
  key,
  encodeURIComponent(key),
  bytes.toString("hex"),
  bytes.toString("base64"),
  Buffer.from(`x${key}y`).toString("base64url"),
];

test.concurrent.each(["", "--json", "--jsonl", "--verbose"])("a run %s", async (flag) => {
  const said = ["plain", "url", "hex", "base64", "base64url"].map((name, at) => `${name} ${spellings[at]}`).join("\n");
  const command = "cat said.txt";
  await using place = openPlace(
    [planned([`RUN ${command}`], { checks: [`echo ${spellings[2]}`] }), done(`RUN::${command}\n`, said)],
    {
      "said.txt": said,
    },
  );
  const args = [
    "run",
    "-y",
    "--allow-run",
    "--check",
    `echo ${spellings[3]}; false`,
    ...(flag === "" ? [] : [flag]),
    `explain ${said}`,
  ];
  const { stdout, stderr } = await place.pai(args, { env: { GEMINI_API_KEY: key } });
  expect(stdout + stderr).toContain("<<SECRET_");
  const written = { ...readTree(place.home), ...readTree(join(place.root, ".pai_history")) };
  expect(JSON.stringify(written)).toMatch(/plain <<SECRET_/);
  const everything = Object.entries({ ...written, stdout, stderr });
  const found = everything.flatMap(([where, text]) =>
    spellings.filter((spelling) => text.includes(spelling)).map((spelling) => `${spelling} in ${where}`),
  );
  expect(found).toEqual([]);
});

test.concurrent("what can be undone is listed without the keys of its task", async () => {
  const other = "ghp_9aZ8bY7cX6dW5eV4fU3gT2hS1iR0jQ9kP8lO";
  await using place = openPlace(hello);
  await place.pai(["run", "-y", `make hello.txt for ${key} and ${other}`], { env: { GEMINI_API_KEY: key } });
  const { stdout } = await place.pai(["history"]);
  expect(stdout).toMatch(/make hello.txt for <<SECRET_\w+>> and <<SECRET_\w+>>/);
  const written = JSON.stringify([readTree(place.home), readTree(join(place.root, ".pai_history"))]);
  expect([written.includes(key), written.includes(other)]).toEqual([false, false]);
});

test.concurrent("a draft that is kept as the terminal closes", async () => {
  await using place = openPlace();
  const raw = openRaw(place, [], { GEMINI_API_KEY: key });
  await raw.sees("pai> ");
  raw.type(`use ${key} now`);
  await raw.sees("now");
  raw.close();
  await raw.exited;
  const written = JSON.stringify(readTree(place.home));
  expect(written).toMatch(/use <<SECRET_\w+>> now/);
  expect(written).not.toContain(key);
});

const overlay = ["-rm", "mount", "-t", "overlay", "none", "-o", "lowerdir=/etc:/usr", "/etc"];
const ownOverlays: Need = { name: "overlays of one's own", isHere: spawnSync("unshare", overlay).status === 0 };

/** Runs a command line of sh with files of `etc` laid over those of /etc. */
function inMachine(place: Place, file: string, script: string, mode = 0o644) {
  const etc = join(place.spare, "etc");
  mkdirSync(join(etc, "pai-code"), { recursive: true });
  writeFileSync(join(etc, "pai-code/config.json"), file);
  chmodSync(join(etc, "pai-code/config.json"), mode);
  return place.shell(`unshare -rm sh -ec 'mount -t overlay none -o lowerdir=${etc}:/etc /etc; ${script}'`);
}

const bound = '{ "limits": { "calls": 1 }, "policy": { "deny": ["secret/**"] }, "model": "gemini:gemini-2.5-pro" }';

needs(ownOverlays).test.concurrent("limits and policy of /etc hold against flags, variables and files", async () => {
  const steps = ["WRITE secret/a.txt"] as const;
  await using place = openPlace([planned(steps), done(write("secret/a.txt", "x\n"))]);
  configure(place, { policy: { allow: ["secret/**"], deny: [] }, limits: { calls: 50 } });
  const script = 'PAI_MAX_CALLS=9 "$PAI" plan --json --max-calls 9 "write it"';
  const outcome = readOutcome(await inMachine(place, bound, script));
  expect(outcome.error?.code).toBe("path_refused");
  expect([outcome.calls.made, outcome.model.requested]).toEqual([1, "gemini:gemini-2.5-pro"]);
});

needs(ownOverlays).test.concurrent("no variable of the user names another file", async () => {
  await using place = openPlace();
  const names = ["XDG_CONFIG_DIRS", "PAI_CONFIG", "PAI_SYSTEM_CONFIG", "PAI_CONFIG_DIR", "HOME", "XDG_CONFIG_HOME"];
  const others = names.map((name) => `${name}=${place.spare}`).join(" ");
  const { stdout } = await inMachine(place, bound, `${others} "$PAI" config get limits.calls`);
  expect(stdout).toBe("1\n");
});
