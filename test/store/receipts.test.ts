/** Receipts: sealed line by line, private, bounded; whatever is changed in one is found. */
import { afterEach, expect, test } from "bun:test";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { PaiError, toFailure } from "../../src/core/error.ts";
import { failedOutcome } from "../../src/core/outcome.ts";
import { type Fact, readReceipt } from "../../src/core/receipt.ts";
import { openReceipts } from "../../src/store/receipts.ts";
import { newFolder } from "../grounds.ts";
import { startedRun } from "./temp-home.ts";

const base = newFolder("disk", "receipts");
const folder = join(base, "state/runs");
afterEach(() => rmSync(join(base, "state"), { recursive: true, force: true }));

const at = "2026-11-21T12:00:00.000Z";
const id = "20261121-120000000-abcd";

const started = (run: string): Fact => startedRun("naïve ✓ \u2028 task", run, at);

const sent: Fact = { type: "context.sent", files: [{ path: "ä.txt", sha256: "0".repeat(64), bytes: 3 }] };

const finished: Fact = {
  type: "run.finished",
  at,
  outcome: {
    ...failedOutcome("run", toFailure(new PaiError("failed", ""))),
    ...{ ok: true, run: id, status: "answered", code: 0, text: "Done, \ufffd included.", error: null },
  },
};

const fail = (text: string) => {
  throw new Error(text);
};

function keep(run = id, facts: readonly Fact[] = [started(run), sent, finished]): Buffer {
  const page = openReceipts(folder).begin(run, fail);
  for (const fact of facts) page.add(fact);
  page.close();
  return readFileSync(join(folder, `${run}.jsonl`));
}

test("what was written is read back, and is only the user's", () => {
  keep();
  const receipts = openReceipts(folder);
  expect(receipts.ids()).toEqual([id]);
  expect(receipts.read(id)).toEqual({ id, facts: [started(id), sent, finished], broken: null });
  expect([statSync(folder).mode & 0o777, statSync(join(folder, `${id}.jsonl`)).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("a flipped bit in any byte of any line is found, in its line", () => {
  const bytes = keep();
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
    const line = bytes.subarray(0, at).toString("latin1").split("\n").length;
    const { broken } = readReceipt(changed.toString(), id);
    expect([at, broken?.line]).toEqual([at, line]);
  }
});

test("lines that are missing, added, twice or in another order are found, also the last ones", () => {
  const [first = "", second = "", third = ""] = `${keep()}`.match(/[^\n]*\n/g) ?? [];
  const judge = (...now: readonly string[]) => readReceipt(now.join(""), id).broken?.line ?? null;
  expect([judge(first, second, third), judge()]).toEqual([null, 1]);
  expect([judge(second, third), judge(first, third), judge(first, second)]).toEqual([1, 2, 3]);
  expect([judge(first, third, second), judge(first, second, second, third)]).toEqual([2, 3]);
  expect(judge(first, second, third.slice(0, -1))).toBe(3);
});

test("a line that is sealed and says nothing is found", () => {
  const body = "null}";
  const line = `null,"hash":"${new Bun.CryptoHasher("sha256").update(body).digest("hex")}"}\n`;
  expect(readReceipt(line, id).broken).toEqual({ line: 1, why: "it is not a fact" });
});

test("a receipt under another run's name is found", () => {
  expect(readReceipt(keep().toString(), "20261121-120000001-abcd").broken).toEqual({
    line: 1,
    why: `it belongs to run ${id}`,
  });
});

test("a run is found by the beginning of its id, if it is the only one", () => {
  keep("20261121-120000000-aaaa");
  keep("20261122-120000000-bbbb");
  const { find } = openReceipts(folder);
  expect(find("20261122")).toBe("20261122-120000000-bbbb");
  expect(() => find("2026")).toThrow("names 2 runs");
  expect(() => find("2027")).toThrow("no receipt of run 2027");
});

test("only the newest of the last 30 days are kept, as many as are wanted", () => {
  const receipts = openReceipts(folder);
  const now = new Date("2026-11-21T12:00:00Z");
  keep("20261001-120000000-0000");
  for (let n = 0; n < 203; n += 1) keep(`20261120-${String(n).padStart(9, "0")}-0000`);
  expect(receipts.prune(now, 200)).toBe(4);
  expect([receipts.ids().length, receipts.ids().at(-1)]).toEqual([200, "20261120-000000003-0000"]);
});

test("a receipt that cannot be written is one warning and ends nothing; a file in its place is not touched", () => {
  keep();
  const said: string[] = [];
  const page = openReceipts(folder).begin(id, (text) => said.push(text));
  for (const fact of [started(id), sent, finished]) page.add(fact);
  page.close();
  expect(said).toHaveLength(1);
  expect(openReceipts(folder).read(id).broken).toBe(null);
});
