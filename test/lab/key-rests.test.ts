/** Keys at their limit rest for the whole team, and nobody learns a key from it. */
import { expect, test } from "bun:test";
import type { KeyState, KeyTurns } from "../../src/core/key-turns.ts";
import { nameOfKey, shareKeyState } from "../../src/lab/team/key-rests.ts";
import { readAddress } from "../../src/lab/team/team-store.ts";
import { openKeyState } from "../../src/store/key-state.ts";
import { needs } from "../needs.ts";
import { listenHere, postgres, usePostgres } from "./postgres.ts";

const keys = [
  { id: "a", key: "AIzaSy-first" },
  { id: "b", key: "AIzaSy-second" },
];
const untilOf = (state: KeyState, id: string): number => state.load().resting[`gemini/${id}`] ?? 0;

test("a digest names a key for one provider, and does not tell it", () => {
  const name = nameOfKey("gemini", "AIzaSy-first");
  expect(name).toMatch(/^[0-9a-f]{64}$/);
  const others = [nameOfKey("openai", "AIzaSy-first"), nameOfKey("gemini", "AIzaSy-second")];
  expect(others).not.toContain(name);
});

test("a database that is away costs one question a minute, and the machine knows what it knew", async () => {
  let asked = 0;
  const server = listenHere({
    open() {
      asked += 1;
    },
  });
  const address = readAddress(`postgres://ana@127.0.0.1:${server.port}/pai`);
  const state = shareKeyState(openKeyState(null), { address, provider: "gemini", keys, now: Date.now });
  for (let at = 0; at < 5; at += 1) await state.refresh?.();
  state.save({ cursor: {}, resting: { "gemini/a": 5 } });
  expect([asked, untilOf(state, "a")]).toEqual([1, 5]);
  server.stop(true);
});

needs(postgres).describe("a real server", () => {
  const server = usePostgres("ana", "bob");

  /** One machine, whose clock is so many milliseconds off. */
  const open = (who: string, held = keys, skew = 0) => {
    const address = readAddress(server.url(who));
    const now = () => Date.now() + skew;
    return {
      now,
      ...shareKeyState(openKeyState(null), { address, provider: "gemini", keys: held, now, waitMs: 10_000 }),
    };
  };
  const told = async (count: number) => {
    while (Number(server.sql("select count(*) from pai.key_rests")) < count) await Bun.sleep(5);
  };
  const rest = (state: KeyState, resting: KeyTurns["resting"]) => state.save({ cursor: {}, resting });

  test("a key rests for machines that hold it under any name, whatever their clocks say", async () => {
    const ana = open("ana", keys, -3_600_000);
    rest(ana, { "gemini/a": ana.now() + 60_000, "openai/a": ana.now() + 60_000 });
    await told(1);
    const held = ["first", "third"].map((name) => ({ id: name, key: `AIzaSy-${name}` }));
    const bob = open("bob", held, 7_200_000);
    await bob.refresh?.();
    expect(untilOf(bob, "first") - bob.now()).toBeGreaterThan(50_000);
    expect(untilOf(bob, "first") - bob.now()).toBeLessThanOrEqual(60_000);
    expect([untilOf(bob, "third"), bob.load().resting["gemini/a"]]).toEqual([0, undefined]);
  });

  test("the longer rest wins, none lasts longer than two days, and an old one is gone", async () => {
    server.sql("delete from pai.key_rests");
    const ana = open("ana");
    rest(ana, { "gemini/a": ana.now() + 9e12, "gemini/b": ana.now() + 100_000 });
    await told(2);
    rest(ana, { "gemini/b": ana.now() + 1000 });
    await Bun.sleep(100);
    const bob = open("bob");
    await bob.refresh?.();
    expect(untilOf(bob, "a") - bob.now()).toBeLessThanOrEqual(172_800_000);
    expect(untilOf(bob, "b") - bob.now()).toBeGreaterThan(90_000);
    server.sql("update pai.key_rests set until = now() - interval '1 second'");
    const late = open("bob");
    await late.refresh?.();
    expect(late.load().resting).toEqual({});
  });

  test("no key is in the database, and no login lists or changes the digests of others", async () => {
    const dump = server.sql("select * from pai.key_rests");
    for (const { key } of keys) expect(dump).not.toContain(key);
    const store = server.store("bob");
    for (const statement of ["select * from pai.key_rests", "delete from pai.key_rests"])
      await expect(store.query(statement, [])).rejects.toMatchObject({ code: "config_invalid" });
    await expect(store.query("select pai.rest_key('no digest', 60)", [])).rejects.toMatchObject({ code: "failed" });
  });
});
