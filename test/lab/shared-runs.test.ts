/** The index of runs that a team shares: nothing is lost, nothing counts twice, nobody writes for another. */
import { beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readTeamRun, summarizeRun } from "../../src/core/run-summary.ts";
import { sumRuns } from "../../src/lab/run-index.ts";
import { type Outbox, openOutbox } from "../../src/lab/team/outbox.ts";
import { catchUp, keyOf, mailRun, mailUndone, readTeamRuns } from "../../src/lab/team/shared.ts";
import { needs } from "../needs.ts";
import { makeFolder, put } from "../store/temp-home.ts";
import { postgres, usePostgres } from "./postgres.ts";

const id = (at: number) => `20261122-${String(100_000_000 + at)}-00ab`;
const runOf = (at: number, more: object = {}) => ({
  ...{ ...summarizeRun(id(at), null, null), root: "/home/ana/shop", at: "2026-11-22T10:00:00.000Z" },
  ...{ task: "add a test", mode: "single-shot", model: "m", status: "verified", code: 0 },
  ...{ calls: 2, expected: 2, atMost: 3, input: 100, output: 10, cost: 0.25, ...more },
});

test("the same run has one key, and the same id of another machine or folder another", () => {
  const keys = [keyOf("a", "/p", id(1)), keyOf("b", "/p", id(1)), keyOf("a", "/q", id(1)), keyOf("a", "/p", id(2))];
  expect(new Set(keys).size).toBe(4);
  expect(keyOf("a", "/p", id(1))).toBe(keys[0] ?? "");
});

test("a row of somebody else is read as what it may be", () => {
  const numbers = { calls: Number.NaN, cost: "9", input: -4, code: Number.POSITIVE_INFINITY };
  const wild = readTeamRun({ who: 7, task: "x".repeat(9999), undone: "yes", ...numbers });
  expect(wild).toMatchObject({ who: "", calls: 0, cost: null, input: 0, undone: false, code: null });
  expect(wild.task.length).toBe(200);
  for (const nothing of [null, 4, "text", [], {}]) expect(readTeamRun(nothing).status).toBeNull();
});

test("other files than letters are put aside, and waiting letters are counted", () => {
  const folder = join(makeFolder(), "outbox");
  const outbox = openOutbox(folder);
  expect([outbox.waiting(), outbox.list("run", 5), existsSync(folder)]).toEqual([0, [], false]);
  mailRun(outbox, "box", runOf(1));
  mailRun(outbox, "box", runOf(1));
  put(join(folder, `run-${"0".repeat(32)}.json.1-0`), "{ not json");
  expect([outbox.waiting(), outbox.list("run", 5).length, outbox.waiting()]).toEqual([2, 1, 1]);
  expect(readdirSync(folder).filter((name) => name.endsWith(".refused"))).toHaveLength(1);
});

test("a letter that is replaced while it is sent stays for the next time", () => {
  const outbox = openOutbox(join(makeFolder(), "outbox"));
  mailUndone(outbox, "box", runOf(1), true);
  const sent = outbox.list("undone", 5);
  mailUndone(outbox, "box", runOf(1), false);
  outbox.remove(sent);
  const left = { key: keyOf("box", "/home/ana/shop", id(1)), undone: false };
  expect(outbox.list("undone", 5).map(({ json }) => json)).toEqual([left]);
});

const startSender = (folder: string, team: string, ms: string) =>
  Bun.spawn([process.execPath, join(import.meta.dir, "outbox-process.ts"), folder, team, ms], { stdout: "pipe" });

test("what two processes send arrives in the order in which it was put", async () => {
  const folder = join(makeFolder(), "outbox");
  const outbox = openOutbox(folder);
  const team = join(folder, "..", "team");
  mailUndone(outbox, "box", runOf(1), true);
  const slow = startSender(folder, team, "400");
  while (!existsSync(`${team}.asked`)) await Bun.sleep(5);
  mailUndone(outbox, "box", runOf(1), false);
  const quick = startSender(folder, team, "0");
  expect(await Promise.all([slow.exited, quick.exited])).toEqual([0, 0]);
  const lines = readFileSync(team, "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line)[0].undone)).toEqual([true, false]);
  expect(outbox.waiting()).toBe(0);
});

test("a process that is killed while it sends keeps nobody from sending, and one that hangs does for a while", async () => {
  const folder = join(makeFolder(), "outbox");
  const outbox = openOutbox(folder);
  const team = join(folder, "..", "team");
  mailUndone(outbox, "box", runOf(1), true);
  const hung = startSender(folder, team, "60000");
  while (!existsSync(`${team}.asked`)) await Bun.sleep(5);
  await expect(outbox.alone(50, async () => "sent")).rejects.toMatchObject({ code: "store_away" });
  hung.kill("SIGKILL");
  await hung.exited;
  expect(await outbox.alone(1000, async () => outbox.list("undone", 5).length)).toBe(1);
});

needs(postgres).describe("a real server", () => {
  const server = usePostgres("ana", "bob");
  let outbox: Outbox;
  beforeEach(() => {
    outbox = openOutbox(join(makeFolder(), "outbox"));
    server.sql("delete from pai.runs");
  });
  const count = () => Number(server.sql("select count(*) from pai.runs"));

  test("two hundred runs sent by four processes at once are there once each", async () => {
    for (let at = 0; at < 200; at += 1) mailRun(outbox, "box", runOf(at));
    const stores = Array.from({ length: 4 }, () => server.store());
    await Promise.all(stores.map((store) => catchUp(store, outbox)));
    expect([count(), outbox.waiting()]).toEqual([200, 0]);
  });

  test("a server that dies in the middle loses nothing and doubles nothing", async () => {
    for (let at = 0; at < 1200; at += 1) mailRun(outbox, "box", runOf(at));
    const store = server.store();
    const sending = catchUp(store, outbox).catch((thrown) => thrown.code);
    while (outbox.waiting() === 1200) await Bun.sleep(1);
    server.kill();
    expect(await sending).toBe("store_away");
    const left = outbox.waiting();
    expect(left).toBeGreaterThan(0);
    server.start();
    expect(count()).toBeGreaterThanOrEqual(1200 - left);
    await catchUp(store, outbox);
    expect([count(), outbox.waiting()]).toEqual([1200, 0]);
  });

  test("a full disk keeps what was not written, and it is written when there is room", async () => {
    server.sql(`create function full_disk() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
      create trigger full_disk before insert on pai.runs for each row execute function full_disk()`);
    mailRun(outbox, "box", runOf(1));
    const store = server.store();
    const message = expect.stringContaining("No space left");
    await expect(catchUp(store, outbox)).rejects.toMatchObject({ code: "store_away", message });
    await catchUp(store, outbox).catch(() => {});
    expect(outbox.waiting()).toBe(1);
    server.sql("drop trigger full_disk on pai.runs");
    await catchUp(store, outbox);
    expect([count(), outbox.waiting()]).toEqual([1, 0]);
  });

  test("a row that the database never takes is put aside, and the others arrive", async () => {
    mailRun(outbox, "box", runOf(1));
    outbox.put("run", "1".repeat(32), { ...runOf(2), key: "not a key", host: "box" });
    outbox.put("run", "2".repeat(32), { ...runOf(3), key: keyOf("box", "/p", id(3)), host: "box", cost: -5 });
    outbox.put("run", "3".repeat(32), ["no object"]);
    const store = server.store();
    await catchUp(store, outbox);
    expect([count(), outbox.waiting()]).toEqual([1, 0]);
  });

  test("hostile text stays text: quotes, NUL, half a surrogate, markup", async () => {
    const task = "'); drop table pai.runs; -- \0 \ud800 <script>alert(1)</script> \u202e \u001b[31m";
    mailRun(outbox, "'; select 1", runOf(1, { task, root: "/tmp/'\"\\" }));
    const store = server.store();
    await catchUp(store, outbox);
    const [run] = await readTeamRuns(store, 5);
    const known = task.replace("\0", "\u{fffd}").toWellFormed();
    expect(run).toMatchObject({ task: known, root: "/tmp/'\"\\", host: "'; select 1", who: "owner" });
  });

  test("sums by user, model and day, with what was undone", async () => {
    const [ana, bob] = [server.store("ana"), server.store("bob")];
    mailRun(outbox, "a", runOf(1));
    mailRun(outbox, "a", runOf(2, { status: "failed", code: 1, cost: null, calls: 9, at: "2026-11-21T10:00:00.000Z" }));
    mailRun(outbox, "a", runOf(3, { status: null, code: null }));
    mailUndone(outbox, "a", runOf(1), true);
    await catchUp(ana, outbox);
    mailRun(outbox, "b", runOf(4, { model: "n", input: 50, cached: 40 }));
    await catchUp(bob, outbox);
    const all = await readTeamRuns(bob, null);
    const byUser = sumRuns(all, "user", null);
    const told = byUser.map((row) => [row.key, row.runs, row.solved, row.kept, row.cost, row.unpriced, row.undone]);
    expect(told).toEqual([
      ["ana", 2, 1, 1, 0.25, 1, 1],
      ["bob", 1, 1, 1, 0.25, 0, 0],
    ]);
    expect(byUser.at(1)?.cached).toBe(40);
    const late = await readTeamRuns(bob, null, "2026-11-22");
    expect(sumRuns(late, "day", "2026-11-22").map(({ key, runs }) => [key, runs])).toEqual([["2026-11-22", 2]]);
    expect([late.length, sumRuns(all, "all", null)[0]?.runs]).toEqual([3, 3]);
    expect((await readTeamRuns(bob, 2)).map(({ id: run, who }) => [run, who])).toEqual([
      [id(4), "bob"],
      [id(3), "ana"],
    ]);
  });

  test("a login writes only its own rows, and changes no others", async () => {
    const [ana, bob] = [server.store("ana"), server.store("bob")];
    mailRun(outbox, "a", runOf(1));
    await catchUp(ana, outbox);
    mailUndone(outbox, "a", runOf(1), true);
    await catchUp(bob, outbox);
    expect(server.sql("select undone from pai.runs")).toBe("f");
    const forged =
      "insert into pai.runs select * from jsonb_populate_record(null::pai.runs, to_jsonb(r) || $1::text::jsonb) from pai.runs r";
    const changes = JSON.stringify({ key: "f".repeat(32) });
    for (const statement of [
      forged.replace("from pai.runs r", "").replace("to_jsonb(r)", "(select to_jsonb(r) from pai.runs r)"),
      "update pai.runs set cost = 0 where $1 <> ''",
      "delete from pai.runs where $1 <> ''",
    ])
      await expect(bob.query(statement, [changes])).rejects.toMatchObject({ code: "config_invalid" });
    expect(server.sql("select who || ' ' || cost from pai.runs")).toBe("ana 0.25");
  });
});
