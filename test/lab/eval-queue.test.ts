/** The evaluation queue: each piece of work is done once, though workers come, die and come back. */
import { beforeAll, beforeEach, expect, test } from "bun:test";
import {
  fillQueue,
  finishWork,
  giveBack,
  lookAtQueue,
  maxAttempts,
  readGivenUp,
  readQueueResults,
  renewWork,
  takeWork,
  type Worker,
} from "../../src/lab/eval/queue.ts";
import type { TeamStore } from "../../src/lab/team/team-store.ts";
import { needs } from "../needs.ts";
import { postgres, usePostgres } from "./postgres.ts";

const sha = "a".repeat(64);
const workOf = (at: number, sha256 = sha) => ({
  key: at.toString(16).padStart(32, "0"),
  task: `task-${at}`,
  sha256,
  model: "oracle",
  mode: "none",
  repeat: 0,
});
const many = (count: number) => Array.from({ length: count }, (_, at) => workOf(at));
const night = { queue: "night", pai: "1", maxCost: null };

needs(postgres).describe("a real server", () => {
  const server = usePostgres("ana");
  let store: TeamStore;
  beforeAll(() => {
    store = server.store("ana");
  });
  beforeEach(() => {
    server.sql("delete from pai.eval_items; delete from pai.eval_queues");
  });
  const usual = { queue: "night", pai: "1", tasks: [sha], lease: 60 };
  const worker = (name: string, more: Partial<Worker> = {}): Worker => ({ ...usual, name, ...more });
  const expire = () =>
    server.sql("update pai.eval_items set lease = now() - interval '1 second' where lease is not null");

  test("two hundred pieces of work go to twenty workers, each to one", async () => {
    expect(await fillQueue(store, night, many(200))).toBe(200);
    const stores = Array.from({ length: 20 }, () => server.store("ana"));
    const taken = await Promise.all(
      stores.map(async (own, at) => {
        const keys: string[] = [];
        const take = () => takeWork(own, worker(`w${at}`));
        for (let work = await take(); work !== null; work = await take()) {
          keys.push(work.key);
          await finishWork(own, "night", work.key, { key: work.key });
        }
        return keys;
      }),
    );
    expect([taken.flat().length, new Set(taken.flat()).size]).toEqual([200, 200]);
    expect(await readQueueResults(store, "night")).toHaveLength(200);
  });

  test("filling again adds nothing, but what ended in an error is tried again", async () => {
    await fillQueue(store, night, many(3));
    await takeWork(store, worker("a"));
    await finishWork(store, "night", workOf(0).key, { error: "no outcome" });
    await finishWork(store, "night", workOf(1).key, { error: null });
    expect(await fillQueue(store, night, many(4))).toBe(2);
    expect(await lookAtQueue(store, worker("a"))).toMatchObject({ open: 3, taken: 0 });
  });

  test("what a dead worker had taken is another's when its lease ends, and its late result does not count", async () => {
    await fillQueue(store, night, many(1));
    const first = await takeWork(store, worker("dead"));
    expect(await takeWork(store, worker("alive"))).toBeNull();
    expect(await lookAtQueue(store, worker("alive"))).toMatchObject({ open: 1, taken: 1 });
    expire();
    await renewWork(store, worker("somebody else"));
    expect(await takeWork(store, worker("alive"))).toEqual(first as never);
    await finishWork(store, "night", workOf(0).key, { error: null, from: "alive" });
    await finishWork(store, "night", workOf(0).key, { error: null, from: "dead" });
    expect(await readQueueResults(store, "night")).toEqual([{ error: null, from: "alive" }]);
  });

  test("a worker that renews keeps its work, one that gives it back costs no attempt", async () => {
    await fillQueue(store, night, many(1));
    await takeWork(store, worker("a", { lease: 0.2 }));
    await renewWork(store, worker("a"));
    await Bun.sleep(300);
    expect(await takeWork(store, worker("b"))).toBeNull();
    await giveBack(store, worker("a"));
    for (let at = 0; at < 5; at += 1) {
      expect(await takeWork(store, worker("b"))).not.toBeNull();
      await giveBack(store, worker("b"));
    }
  });

  test("work that kills every worker is given up after some attempts, and reported", async () => {
    await fillQueue(store, night, many(1));
    for (let at = 0; at < maxAttempts; at += 1) {
      expect(await takeWork(store, worker(`w${at}`))).not.toBeNull();
      expire();
    }
    expect(await takeWork(store, worker("last"))).toBeNull();
    expect(await lookAtQueue(store, worker("last"))).toMatchObject({ open: 0, taken: 0 });
    expect(await readGivenUp(store, "night")).toEqual([workOf(0)] as never);
  });

  test("a worker takes only tasks that it has, for its version of pai", async () => {
    await fillQueue(store, night, [workOf(1, "b".repeat(64)), workOf(2)]);
    await fillQueue(store, { ...night, pai: "2" }, [workOf(3)]);
    expect((await takeWork(store, worker("a")))?.key).toBe(workOf(2).key);
    expect(await takeWork(store, worker("a"))).toBeNull();
    expect(await lookAtQueue(store, worker("a"))).toMatchObject({ open: 1, taken: 1 });
    expect(await lookAtQueue(store, worker("a", { queue: "none" }))).toBeNull();
    expect(await readQueueResults(store, "none")).toBeNull();
  });

  test("nothing more is taken when the cost of the queue is reached", async () => {
    await fillQueue(store, { ...night, maxCost: 1 }, many(3));
    for (const cost of [0.6, 0.5]) {
      const work = await takeWork(store, worker("a"));
      await finishWork(store, "night", work?.key ?? "", { cost, error: null });
    }
    expect(await takeWork(store, worker("a"))).toBeNull();
    expect(await lookAtQueue(store, worker("a"))).toMatchObject({ open: 1, cost: 1.1, maxCost: 1 });
    await fillQueue(store, { ...night, maxCost: 2 }, []);
    expect(await takeWork(store, worker("a"))).not.toBeNull();
  });
});
