/** Receipts in the binary: kept, verified, replayed, listed; a preview before anything is sent. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCommand, readOutcome } from "../contract.ts";
import { openPlace, type Place, readTree } from "../harness.ts";
import { done, hello, modify, planned, talked } from "../replies.ts";

const change = [planned(["MODIFY a.txt"]), done(modify("a.txt", "one\n", "two\n"))];
const files = { "a.txt": "one\n" };

function runsOf({ home }: Place): readonly string[] {
  const state = join(home, ".local/state/pai-code");
  return readdirSync(state, { recursive: true, encoding: "utf8" })
    .filter((name) => /\/runs\/[^/]+\.jsonl$/.test(name))
    .map((name) => join(state, name))
    .sort();
}

test.concurrent("a run is verified, replayed offline and listed with what it took", async () => {
  await using place = openPlace(change, files);
  const { run, usage } = readOutcome(await place.pai(["run", "-y", "--json", "--check", "true", "change a.txt"]));
  expect(await place.pai(["history", "--verify"])).toMatchObject({ code: 0, stderr: "" });
  const [before, asked] = [readTree(place.home), place.gemini.requests.length];
  const offline = { env: { GEMINI_API_KEY: null, PAI_BASE_URL: "http://127.0.0.1:9" } };
  const replayed = await place.pai(["replay", String(run).slice(0, 12)], offline);
  expect(replayed).toEqual({ code: 0, stdout: "same tree: 1 file\n", stderr: "" });
  const again = readCommand(await place.pai(["replay", "--json", String(run)]));
  expect(again.data).toMatchObject({ same: true, changed: 1 });
  expect([readTree(place.home), place.gemini.requests.length]).toEqual([before, asked]);
  expect(place.tree()).toEqual({ "a.txt": "two\n" });
  const { data } = readCommand(await place.pai(["history", "--json"]));
  const tokens = usage.input + usage.output;
  expect(data).toMatchObject({
    runs: [{ id: run, status: "applied", outcome: { status: "verified", calls: 2, tokens } }],
  });
});

test.concurrent("a receipt that somebody changed is named with its line, exit 1; it is not replayed", async () => {
  await using place = openPlace(change, files);
  const { run } = readOutcome(await place.pai(["run", "-y", "--json", "change a.txt"]));
  const [file = ""] = runsOf(place);
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, lines.map((line, at) => (at === 3 ? line.replace('"plan"', '"turn"') : line)).join("\n"));
  const verified = readCommand(await place.pai(["history", "--verify", "--json"]));
  expect([verified.code, verified.error?.message]).toEqual([
    1,
    `the receipt of run ${run} is broken at line 4: it was changed: its hash does not match`,
  ]);
  expect(verified.data).toMatchObject({ runs: [{ run, lines: 3, broken: { line: 4 } }] });
  expect((await place.pai(["replay", String(run)])).code).toBe(1);
});

/** Replays the newest run; what it says. */
async function replayNewest(place: Place): Promise<string> {
  const { stdout, stderr } = await place.pai(["replay"]);
  return stdout + stderr;
}

test.concurrent("plans, applied plans with and without their edits, and runs of a known plan are replayed", async () => {
  await using place = openPlace([...change, ...change, ...change, ...change.slice(1)], files);
  await place.pai(["plan", "-o", "../spare/p.json", "change a.txt"]);
  expect(await replayNewest(place)).toBe("same tree: 0 files\n");
  await place.pai(["apply", "-y", "../spare/p.json"]);
  expect(await replayNewest(place)).toBe("same tree: 1 file\n");
  await place.pai(["undo", "-y"]);
  await place.pai(["plan", "--full", "-o", "../spare/full.json", "change a.txt"]);
  expect(await replayNewest(place)).toBe("same tree: 1 file\n");
  await place.pai(["apply", "-y", "--check", "echo made > made.txt", "../spare/full.json"]);
  expect(await replayNewest(place)).toBe("same tree: 2 files\n");
  await place.pai(["undo", "-y"]);
  await place.pai(["run", "-y", "change a.txt"]);
  expect(await replayNewest(place)).toBe("same tree: 1 file\n");
  await place.pai(["undo", "-y"]);
  const again = await place.pai(["run", "-y", "change a.txt"]);
  expect(again.stderr).toContain("plan of an earlier run");
  expect(await replayNewest(place)).toBe("same tree: 1 file\n");
});

test.concurrent("an interrupted run has its end, and ends the same way again", async () => {
  await using place = openPlace([planned(["WRITE hello.txt"]), { text: "", delayMs: 60_000 }]);
  const running = place.start(["run", "-y", "make hello.txt"]);
  await place.gemini.arrived(2);
  running.kill("SIGINT");
  expect((await running.done).code).toBe(130);
  expect((await place.pai(["history", "--verify"])).code).toBe(0);
  expect(await replayNewest(place)).toBe("same tree: 0 files\n");
});

test.concurrent("a run that changed nothing is listed too; with --ephemeral nothing is", async () => {
  await using place = openPlace([talked("Hello."), talked("Hello.")]);
  await place.pai(["run", "--ephemeral", "say hello"]);
  expect((await place.pai(["history"])).stdout).toBe("no runs are kept for this folder\n");
  await place.pai(["run", "say hello"]);
  const { stdout } = await place.pai(["history"]);
  for (const word of ["unchanged", "answered, 1 call", "say hello"]) expect(stdout).toContain(word);
});

test.concurrent("an argument that names no receipt is an error that quotes it (R24)", async () => {
  await using place = openPlace([...hello]);
  expect((await place.pai(["history", "20261121"])).code).toBe(2);
  expect((await place.pai(["help", "history"])).stdout).toContain("pai history [--verify RUN]");
  expect((await place.pai(["replay"])).stderr).toContain("no receipts are kept here");
  expect(readCommand(await place.pai(["replay", "--json", "2026"])).error?.code).toBe("failed");
  expect((await place.pai(["history", "--verify"])).stdout).toBe("no receipts are kept\n");
});
