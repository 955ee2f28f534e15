/** A queue of evaluation work in a real PostgreSQL, and workers of the built binary; skipped where there is none. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { postgres, startPostgres, usePostgres } from "../../lab/postgres.ts";
import { needs } from "../../needs.ts";
import { dataOf, layReplies, layTask } from "../eval-tasks.ts";
import { openPlace } from "../harness.ts";

needs(postgres).describe("a queue in the team's store", () => {
  const server = usePostgres();

  test.concurrent("is filled once, emptied by several workers, and reported", async () => {
    await using place = openPlace();
    for (const name of ["one", "two", "three"]) layTask(place, name);
    const tasks = join(place.spare, "tasks");
    const model = `oracle,nop,replay:${layReplies(place, "answer.txt", "yes")}`;
    const env = { PAI_STORE_URL: server.url() };
    const evaluate = (...args: readonly string[]) =>
      place.pai(["eval", ...args, "--queue", "night", "--json"], { env });
    expect(dataOf((await evaluate("run", tasks, "--model", model)).stdout)).toMatchObject({ added: 9, known: 0 });
    expect(dataOf((await evaluate("run", tasks, "--model", model)).stdout)).toMatchObject({ added: 0, known: 9 });
    const workers = ["a.jsonl", "b.jsonl", "c.jsonl"].map((file) =>
      evaluate("worker", tasks, "--sandbox", "off", "--jobs", "1", "--results", file),
    );
    const done = (await Promise.all(workers)).map(({ code, stdout }) => [code, dataOf(stdout).total as number]);
    expect(done.map(([code]) => code)).toEqual([0, 0, 0]);
    expect(done.reduce((sum, [, total = 0]) => sum + total, 0)).toBe(9);
    const report = dataOf((await evaluate("report")).stdout);
    expect([report.total, report.passed]).toEqual([9, 6]);
  });

  test.concurrent("is judged by what stands in it: rows of others that name no candidate run nothing", async () => {
    await using place = openPlace();
    layTask(place, "word");
    const tasks = join(place.spare, "tasks");
    const env = { PAI_STORE_URL: server.url() };
    const args = ["--queue", "forged", "--sandbox", "off"];
    await place.pai(["eval", "run", tasks, "--model", "oracle", ...args], { env });
    server.sql("update pai.eval_items set model = '--keep', mode = 'auto' where queue = 'forged'");
    const ran = await place.pai(["eval", "worker", tasks, ...args, "--json"], { env });
    expect(dataOf(ran.stdout).results).toMatchObject([{ passed: false, error: "the candidate is not valid" }]);
    server.sql(`update pai.eval_items set result = '{"bad": ["row"]}' where queue = 'forged'`);
    expect((await place.pai(["eval", "report", "--queue", "forged"], { env })).code).toBe(2);
    const none = await place.pai(["eval", "worker", tasks, "--queue", "nowhere"], { env });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("unknown queue: nowhere")]);
    expect((await place.pai(["eval", "worker", tasks, "--queue", "night"])).code).toBe(2);
  });
});

needs(postgres).test("a worker outlives a restart of the database, and its result is there afterwards", async () => {
  await using place = openPlace();
  const server = startPostgres();
  try {
    layTask(place, "slow", { check: "sleep 1; sh check.sh" });
    const tasks = join(place.spare, "tasks");
    const env = { PAI_STORE_URL: server.url() };
    const args = ["--queue", "restart", "--sandbox", "off"];
    await place.pai(["eval", "run", tasks, "--model", "oracle", ...args], { env });
    const working = place.pai(["eval", "worker", tasks, ...args, "--json"], { env });
    while (server.sql("select count(*) from pai.eval_items where worker is not null") !== "1") await Bun.sleep(20);
    server.kill();
    await Bun.sleep(1500);
    server.start();
    const { code, stdout, stderr } = await working;
    expect([code, dataOf(stdout).passed, stderr]).toEqual([0, 1, expect.stringContaining("asking again")]);
    expect(server.sql("select result ->> 'passed' from pai.eval_items")).toBe("true");
  } finally {
    server.stop();
  }
});
