/** Caps of a day, on one machine and of a team: whoever calls at once never overspends, whatever dies on the way. */
import { beforeEach, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { summarizeRun } from "../../src/core/run-summary.ts";
import type { Allowance, Claim, PlannedCall, SpendCaps } from "../../src/core/spending/allowance.ts";
import { openMachineAllowance, openTeamAllowance, openTeamRules } from "../../src/lab/team/allowance.ts";
import { openDayLedger } from "../../src/lab/team/day-ledger.ts";
import { openOutbox } from "../../src/lab/team/outbox.ts";
import { catchUp, mailRun } from "../../src/lab/team/shared.ts";
import { openTeamStore, readAddress } from "../../src/lab/team/team-store.ts";
import { needs } from "../needs.ts";
import { makeFolder } from "../store/temp-home.ts";
import { postgres, usePostgres } from "./postgres.ts";

const none: SpendCaps = { calls: null, tokens: null, cost: null };
/** 1 USD a million tokens, at the most 1,000 tokens and 0.001 USD a call. */
const call: PlannedCall = {
  input: 400,
  promised: 1,
  minReply: 100,
  maxReply: () => 600,
  priceOf: ({ input, output }) => (input + output) / 1e6,
  signal: new AbortController().signal,
};
const paid = (tokens: number) => ({ calls: 1, tokens, cost: tokens / 1e6 });

test("four processes at once never pass the cap", async () => {
  const file = join(makeFolder(), "state", "days.sqlite");
  const cap = 20_000;
  const script = join(import.meta.dir, "day-ledger.ts");
  const children = Array.from({ length: 4 }, () =>
    Bun.spawn([process.execPath, script, file, "50", String(cap)], { stdout: "pipe", stderr: "pipe" }),
  );
  const spent = await Promise.all(
    children.map(async (child) => {
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect(err).toBe("");
      return Number(out);
    }),
  );
  const sum = spent.reduce((all, one) => all + one, 0);
  expect(sum).toBeLessThanOrEqual(cap);
  expect(sum).toBeGreaterThan(cap - 500);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("the next day begins anew, and what was reserved is given back when it is settled", async () => {
  let now = new Date("2026-11-22T23:59:59Z");
  const ledger = openDayLedger(join(makeFolder(), "days.sqlite"));
  const day = openMachineAllowance(ledger, { ...none, calls: 2, tokens: 2000 }, () => now);
  const [first, second] = [await day.reserve(call), await day.reserve(call)];
  const message = expect.stringContaining("this machine");
  await expect(day.reserve(call)).rejects.toMatchObject({ code: "budget_calls", message });
  first.settle({ calls: 0, tokens: 0, cost: 0 });
  first.settle({ calls: 0, tokens: 0, cost: 0 });
  second.settle(paid(900));
  expect((await day.reserve(call)).reply()).toBe(600);
  await expect(day.reserve(call)).rejects.toMatchObject({ code: "budget_calls" });
  now = new Date("2026-11-23T00:00:01Z");
  expect((await day.reserve(call)).reply()).toBe(600);
  ledger.close();
});

test("a reply gets what is left, and a price that is reached refuses", async () => {
  const ledger = openDayLedger(join(makeFolder(), "days.sqlite"));
  const day = openMachineAllowance(ledger, { ...none, cost: 0.0017 }, () => new Date());
  expect((await day.reserve(call)).reply()).toBe(600);
  expect((await day.reserve(call)).reply()).toBe(300);
  const hint = expect.stringContaining("limits.day.cost");
  await expect(day.reserve(call)).rejects.toMatchObject({ code: "budget_cost", hint });
  ledger.close();
});

const codeOf = (work: Promise<unknown>) => work.catch((thrown) => thrown.code as string);

/** Claims, or the codes of the refusals. */
const reserveMany = (allowances: readonly Allowance[], count: number): Promise<readonly (Claim | string)[]> =>
  Promise.all(
    Array.from({ length: count }, (_, at) =>
      (allowances[at % allowances.length] as Allowance).reserve(call).catch((thrown) => thrown.code as string),
    ),
  );
const granted = (all: readonly (Claim | string)[]) => all.filter((one) => typeof one !== "string") as readonly Claim[];

needs(postgres).describe("a team", () => {
  const server = usePostgres("ana", "bob");
  const closing: (() => unknown)[] = [];
  beforeEach(async () => {
    for (const close of closing.splice(0)) await close();
    server.sql(
      "delete from pai.spent; delete from pai.claims; delete from pai.runs; delete from pai.machines; update pai.caps set calls = null, tokens = null, cost = null, required = false",
    );
  });

  interface Caps {
    readonly user?: Partial<SpendCaps>;
    readonly waitMs?: number;
  }

  /** One machine of the team. */
  function open(who: string, { user = {}, waitMs = 0 }: Caps = {}, now = () => new Date()) {
    const folder = makeFolder();
    const store = openTeamStore(readAddress(server.url(who)), 10_000);
    const outbox = openOutbox(join(folder, "outbox"));
    const ledger = openDayLedger(join(folder, "days.sqlite"));
    const warnings: string[] = [];
    const warn = (text: string) => warnings.push(text);
    const rules = openTeamRules(store, folder);
    const caps = { ...none, ...user };
    const allowance = openTeamAllowance({ store, rules, caps, ledger, outbox, now, warn, waitMs });
    closing.push(async () => {
      await allowance.close();
      await store.close();
      ledger.close();
    });
    return { store, rules, outbox, ledger, allowance, warnings };
  }
  /** What the owner of the database sets. */
  const capTeam = (set: string) => server.sql(`update pai.caps set ${set}`);
  const spent = (scope: string) =>
    JSON.parse(
      server.sql(
        `select coalesce(json_agg(json_build_array(calls, round(tokens::numeric, 3), round(cost::numeric, 9))), '[]') from pai.spent where scope = '${scope}'`,
      ),
    ) as number[][];

  test("two hundred reservations of twenty machines at once stay within the team's cap, and use it up", async () => {
    capTeam("tokens = 100500, cost = 5");
    const machines = Array.from({ length: 20 }, (_, at) => open(at % 2 === 0 ? "ana" : "bob"));
    const allowances = machines.map(({ allowance }) => allowance);
    const all = await reserveMany(allowances, 200);
    const claims = granted(all);
    const tokens = claims.reduce((sum, claim) => sum + 400 + claim.reply(), 0);
    expect([claims.length, tokens]).toEqual([101, 100_500]);
    expect(new Set(all.filter((one) => typeof one === "string"))).toEqual(new Set(["budget_tokens"]));
    expect(spent("team")).toEqual([[101, 100_500, 0.1005]]);
  });

  test("what is settled makes room again, and every call is counted once", async () => {
    capTeam("cost = 0.02");
    const machines = Array.from({ length: 20 }, () => open("ana", { user: { calls: 40 } }));
    const work = async ({ allowance }: (typeof machines)[number]) => {
      let made = 0;
      for (let at = 0; at < 10; at += 1) {
        const claim = await allowance.reserve(call).catch(() => null);
        if (claim === null) continue;
        claim.settle(paid(500));
        claim.settle(paid(500));
        made += 1;
      }
      await allowance.close();
      return made;
    };
    const made = (await Promise.all(machines.map(work))).reduce((sum, one) => sum + one, 0);
    expect(made).toBeLessThanOrEqual(40);
    expect(spent("user ana")).toEqual([[made, made * 500, (made * 500) / 1e6]]);
    expect(spent("team")[0]?.[2]).toBeLessThanOrEqual(0.02);
  });

  test("a call waits for others who hold more than they need, and not for long", async () => {
    capTeam("tokens = 1200");
    const [ana, bob] = [open("ana"), open("bob", { waitMs: 600_000 })];
    const held = await ana.allowance.reserve(call);
    const waiting = bob.allowance.reserve(call);
    while (bob.warnings.length === 0) await Bun.sleep(10);
    expect(bob.warnings).toEqual(["the rest of the day's caps is reserved by calls under way: waiting for them"]);
    held.settle(paid(100));
    expect((await waiting).reply()).toBe(600);
    const stopped = open("bob", { waitMs: 600_000 });
    const stop = new AbortController();
    const ending = stopped.allowance.reserve({ ...call, signal: stop.signal });
    setTimeout(() => stop.abort(new Error("stopped by the user")), 100);
    await expect(ending).rejects.toThrow("stopped by the user");
    (await waiting).settle(paid(1100));
    await bob.allowance.close();
    await expect(stopped.allowance.reserve(call)).rejects.toMatchObject({ code: "budget_tokens" });
  });

  test("runs that begin together hold the calls that they promise, and give back what they do not make", async () => {
    capTeam("calls = 20");
    const machines = Array.from({ length: 12 }, () => open("ana"));
    const first = await Promise.all(
      machines.map(({ allowance }) => allowance.reserve({ ...call, promised: 2 }).catch(() => null)),
    );
    expect([first.filter((claim) => claim !== null).length, spent("team")[0]?.[0]]).toEqual([10, 20]);
    const holders = machines.filter((_, at) => first[at] !== null);
    for (const { allowance } of holders.slice(0, 8)) (await allowance.reserve(call)).settle(paid(500));
    expect(spent("team")[0]?.[0]).toBe(20);
    for (const { allowance } of holders) {
      allowance.endRun();
      await allowance.close();
    }
    expect(spent("team")[0]?.[0]).toBe(18);
  });

  test("the tenth that may be used without the database is shared by the machines that it has seen", async () => {
    capTeam("tokens = 200000");
    const { allowance, rules, warnings } = open("ana");
    server.sql("insert into pai.machines select 'm' || n from generate_series(1, 9) n");
    await rules.ask();
    server.kill();
    const claims = granted(await reserveMany([allowance], 5));
    server.start();
    expect([claims.length, warnings[0]]).toEqual([2, expect.stringContaining("1 % of the day's caps")]);
  });

  test("a cap of one user leaves the others alone", async () => {
    const [ana, bob] = [open("ana", { user: { calls: 1 } }), open("bob", { user: { calls: 1 } })];
    await ana.allowance.reserve(call);
    const message = expect.stringContaining("of ana is reached: 1 of 1 calls");
    await expect(ana.allowance.reserve(call)).rejects.toMatchObject({ code: "budget_calls", message });
    await ana.allowance.reserve(call).catch(() => {});
    expect(granted(await reserveMany([bob.allowance], 2))).toHaveLength(1);
  });

  test("the day is the database's: no clock of a machine moves it", async () => {
    for (const year of ["1999", "2999"]) {
      const { allowance } = open("ana", { user: { calls: 1 } }, () => new Date(`${year}-01-01T00:00:00Z`));
      const claim = await allowance.reserve(call).catch((thrown) => thrown.code);
      expect(claim === "budget_calls").toBe(year === "2999");
      if (typeof claim !== "string") claim.settle(paid(500));
      await allowance.close();
    }
    expect(server.sql("select distinct day = pai.today() from pai.spent")).toBe("t");
  });

  test("while the database is away a tenth may be used, which is reported once when it is back", async () => {
    capTeam("tokens = 20000");
    const { allowance, rules, outbox, store, warnings } = open("ana");
    await rules.ask();
    const other = openTeamStore(readAddress(server.url("ana")), 10_000);
    server.kill();
    const claims = granted(await reserveMany([allowance], 5));
    expect([claims.length, warnings.length]).toEqual([2, 1]);
    expect(warnings[0]).toContain("10 % of the day's caps may be used here meanwhile");
    const message = expect.stringContaining("while the store is unreachable");
    await expect(allowance.reserve(call)).rejects.toMatchObject({ code: "budget_tokens", message });
    await allowance.reserve(call).catch(() => {});
    claims[0]?.settle(paid(700));
    server.start();
    await Promise.all([catchUp(store, outbox), catchUp(other, outbox)]);
    // One was settled; the other process may still be at it, and counts in full.
    expect(spent("team")).toEqual([[2, 1700, 0.0017]]);
    claims[1]?.settle(paid(600));
    await catchUp(store, outbox);
    expect([spent("team"), outbox.waiting()]).toEqual([[[2, 1300, 0.0013]], 0]);
    await other.close();
  });

  test("ten processes that settle the same letters at once never wait for each other in a circle", async () => {
    const { outbox } = open("ana");
    for (let at = 0; at < 60; at += 1) {
      const claim = crypto.randomUUID();
      const spend = { claim, day: `2026-11-${10 + (at % 10)}`, calls: 1, tokens: 500, cost: 0, final: false };
      outbox.put("spend", claim.replaceAll("-", ""), spend);
      outbox.put("spent", claim.replaceAll("-", ""), { ...spend, tokens: 100, final: true });
    }
    const stores = Array.from({ length: 10 }, () => open("ana").store);
    await Promise.all(stores.map((store) => catchUp(store, outbox)));
    expect(server.sql("select sum(calls) || ' ' || sum(tokens) from pai.spent where scope = 'team'")).toBe("60 6000");
  });

  test("where the owner requires the store no call is made while the database is away", async () => {
    capTeam("tokens = 20000, required = true");
    const { allowance, rules, outbox } = open("ana");
    await rules.ask();
    server.kill();
    const message = expect.stringContaining("this team makes no call without it");
    await expect(allowance.reserve(call)).rejects.toMatchObject({ code: "store_away", message });
    await allowance.reserve(call).catch(() => {});
    server.start();
    expect(granted(await reserveMany([open("bob").allowance], 1))).toHaveLength(1);
    expect(outbox.list("spend", 9)).toEqual([]);
  });

  test("an answer that is lost after the server has reserved is given back", async () => {
    const { store, outbox } = open("ana");
    const id = crypto.randomUUID();
    const reserve = "select granted from pai.reserve($1, gen_random_uuid(), 1, 1, null, null, 400, 100, 600, 0, 0)";
    const ask = () => store.query<{ granted: boolean }>(reserve, [id]);
    expect([await ask(), await ask()].flat().map(({ granted: is }) => is)).toEqual([true, true]);
    expect(spent("team")).toEqual([[1, 1000, 0]]);
    const nothing = { claim: id, day: "2026-01-01", calls: 0, tokens: 0, cost: 0, final: true };
    outbox.put("spent", id.replaceAll("-", ""), nothing);
    await catchUp(store, outbox);
    expect(spent("team")).toEqual([[0, 0, 0]]);
  });

  test("runs that reserved nothing count when they are sent, on no day of the future", async () => {
    capTeam("tokens = 1000");
    const { store, outbox, allowance } = open("ana");
    const figures = { root: "/p", input: 700, output: 200, calls: 3, cost: 0.1 };
    const run = { ...summarizeRun("20261122-100000000-0000", null, null), ...figures };
    mailRun(outbox, "a", { ...run, at: "2999-01-01T00:00:00Z" });
    mailRun(outbox, "b", { ...run, at: "no time" });
    mailRun(outbox, "c", { ...run, at: "2999-01-01T00:00:00Z" }, true);
    await catchUp(store, outbox);
    expect(server.sql("select day = pai.today() from pai.spent where scope = 'team'")).toBe("t");
    expect(spent("team")).toEqual([[6, 1800, 0.2]]);
    await expect(allowance.reserve(call)).rejects.toMatchObject({ code: "budget_tokens" });
  });

  test("nobody settles for another, below zero, or with something other than a number", async () => {
    const { store: ana } = open("ana");
    const { store: bob } = open("bob");
    const id = crypto.randomUUID();
    await ana.query("select pai.reserve($1, gen_random_uuid(), 1, null, null, null, 400, 100, 600, 0, 0)", [id]);
    await bob.query("select pai.settle($1, pai.today(), 0, 0, 0, true)", [id]);
    expect(spent("team")).toEqual([[1, 1000, 0]]);
    for (const bad of ["-1", "'NaN'", "'Infinity'", "null"])
      expect(await codeOf(ana.query(`select pai.settle($1, pai.today(), 1, ${bad}, 0, true)`, [id]))).toBe("failed");
    for (const forged of ["select pai.book(pai.today(), 'bob', -5, -5, -5)", "update pai.spent set calls = 0"])
      expect(await codeOf(ana.query(forged, []))).toBe("config_invalid");
    await Bun.sleep(50);
    expect(spent("team")).toEqual([[1, 1000, 0]]);
  });
});
