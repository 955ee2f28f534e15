/** The built binary and a team's database: a real PostgreSQL, skipped where there is none. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { postgres, usePostgres } from "../../lab/postgres.ts";
import { needs } from "../../needs.ts";
import { readCommand, readOutcome } from "../contract.ts";
import { configure, openPlace, type Place } from "../harness.ts";
import { hello, talked } from "../replies.ts";
import { inTerminal, openScreen, ready } from "../screen.ts";

const findingOf = (data: unknown) =>
  (data as { findings: readonly { name: string; level: string; text: string }[] }).findings.find(
    ({ name }) => name === "store",
  );

test.concurrent("a store that is away is a warning of the doctor, and its password is shown nowhere", async () => {
  await using place = openPlace([talked("Hello.")]);
  const env = { PAI_STORE_URL: "postgres://ana:s3cr3t-word@127.0.0.1:1/pai" };
  const doctor = await place.pai(["doctor", "--json"], { env });
  expect(findingOf(readCommand(doctor).data)).toMatchObject({
    level: "warning",
    text: expect.stringContaining("127.0.0.1:1/pai"),
  });
  const shown = await place.pai(["config", "get", "store.url"], { env });
  expect(shown.stdout).toBe("postgres://ana:***@127.0.0.1:1/pai\n");
  const put = await place.pai(["config", "set", "store.url", env.PAI_STORE_URL]);
  const said = [doctor, shown, put, await place.pai(["config", "get"])].map(({ stdout, stderr }) => stdout + stderr);
  expect(said.join("")).not.toContain("s3cr3t");
});

const outboxOf = ({ home }: Place) => join(home, ".local/state/pai-code/outbox");
const waiting = (place: Place) => (existsSync(outboxOf(place)) ? readdirSync(outboxOf(place)) : []);

test.concurrent("an unreachable store ends no run: one warning, and the run waits to be sent", async () => {
  await using place = openPlace(hello);
  const env = { PAI_STORE_URL: "postgres://ana:s3cr3t-word@127.0.0.1:1/pai" };
  const { code, stderr } = await place.pai(["run", "-y", "make hello.txt"], { env });
  expect([code, place.tree()]).toEqual([0, { "hello.txt": "hello\n" }]);
  expect(stderr).toContain("the store 127.0.0.1:1/pai cannot be used now");
  expect(stderr).toContain("1 message waits for the team in the state folder");
  const doctor = await place.pai(["doctor", "--json"], { env });
  expect(findingOf(readCommand(doctor).data)?.text).toEndWith(", 1 message waits here");
  expect([stderr.includes("s3cr3t"), waiting(place).length]).toEqual([false, 1]);
});

test.concurrent("--team without a store is a usage error that says how to set one", async () => {
  await using place = openPlace();
  for (const command of [["stats"], ["history"], ["dashboard"], ["dashboard", "--out", "r.html"]]) {
    const { code, stderr } = await place.pai([...command, "--team"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("store.url")]);
  }
});

test.concurrent("a cap of the day stops the next run with 13, also an ephemeral one, and is counted per day of this machine", async () => {
  await using place = openPlace([...hello, talked("Hi.")]);
  configure(place, { limits: { day: { calls: 2 } } });
  expect((await place.pai(["run", "-y", "make hello.txt"])).code).toBe(0);
  for (const flags of [[], ["--ephemeral"]]) {
    const refused = readOutcome(await place.pai(["run", "-y", "--json", ...flags, "say hi"]));
    const message = "the day's budget of this machine is reached: 2 of 2 calls used or reserved today (UTC)";
    const error = { code: "budget_calls", message, hint: expect.stringContaining("limits.day.calls") };
    expect(refused).toMatchObject({ code: 13, error });
  }
  expect(place.gemini.requests.length).toBe(2);
  configure(place, { limits: { day: { calls: 3 } } });
  expect((await place.pai(["run", "-y", "say hi"])).code).toBe(0);
});

test.concurrent("a cap of a cost without a price is refused before any call", async () => {
  await using place = openPlace();
  configure(place, { limits: { day: { cost: 5 } } });
  const unpriced = await place.pai(["run", "-y", "-m", "gemini:gemini-unheard-of", "say hi"]);
  expect([unpriced.code, unpriced.stderr]).toEqual([2, expect.stringContaining("limits.day.cost needs a known price")]);
  expect(place.gemini.requests.length).toBe(0);
});

needs(postgres).describe("with a real server", () => {
  const server = usePostgres();

  test.concurrent("the doctor says as whom a store answers", async () => {
    await using place = openPlace();
    const { data } = readCommand(await place.pai(["doctor", "--json"], { env: { PAI_STORE_URL: server.url() } }));
    expect(findingOf(data)).toMatchObject({
      level: "ok",
      text: expect.stringMatching(/ as owner: layout \d+, \d+ runs, today \d+ calls?, \$[\d.]+ \(PAI_STORE_URL\)$/),
    });
  });

  test.concurrent("runs of two machines come together: those of a time without the store too, each once", async () => {
    server.sql("create role ana login; create role bob login");
    await using ana = openPlace([...hello, ...hello]);
    await using bob = openPlace(hello);
    const by = (who: string) => ({ env: { PAI_STORE_URL: server.url(who) } });
    const away = { env: { PAI_STORE_URL: "postgres://ana@127.0.0.1:1/pai" } };
    expect((await ana.pai(["run", "-y", "make hello.txt"], away)).code).toBe(0);
    const first = readOutcome(await ana.pai(["run", "-y", "--json", "make hello.txt <b>again</b>"], by("ana")));
    expect(waiting(ana)).toEqual([]);
    expect((await bob.pai(["run", "-y", "make hello.txt"], by("bob"))).stderr).not.toContain("store");
    expect((await ana.pai(["undo", "-y"], by("ana"))).code).toBe(0);

    const stats = readCommand(await bob.pai(["stats", "--team", "--by", "user", "--json"], by("bob")));
    const rows = (stats.data as { rows: readonly { key: string; runs: number; undone: number }[] }).rows;
    const mine = rows.filter(({ key }) => ["ana", "bob"].includes(key));
    expect(mine.map(({ key, runs, undone }) => `${key} ${runs} ${undone}`)).toEqual(["ana 2 1", "bob 1 0"]);
    const listed = (await bob.pai(["history", "--team"], by("bob"))).stdout;
    expect(listed).toMatch(/ ana@.* {2}undone {2}make hello.txt$/m);
    expect(listed).toMatch(new RegExp(`^${first.run} .*ana@.*  make hello.txt <b>again`, "m"));
    const page = await bob.pai(["dashboard", "--team", "--out", "r.html"], by("bob"));
    expect(page.stdout).toMatch(/^\d+ runs? written/);
    const html = readFileSync(join(bob.root, "r.html"), "utf8");
    expect([html.includes("the runs of the team"), html.includes("<b>again")]).toEqual([true, false]);
  });

  test.concurrent("an ephemeral run tells the team nothing", async () => {
    await using place = openPlace(hello);
    server.sql("create role eve login");
    const env = { PAI_STORE_URL: server.url("eve") };
    expect((await place.pai(["run", "-y", "--ephemeral", "make hello.txt"], { env })).code).toBe(0);
    expect([waiting(place), server.sql("select count(*) from pai.runs where who = 'eve'")]).toEqual([[], "0"]);
  });

  inTerminal("a session goes on at another machine of the same user", async () => {
    server.sql("create role uma login");
    const env = { PAI_STORE_URL: server.url("uma") };
    await using home = openPlace([talked("I am at home.")]);
    await using work = openPlace([talked("I am at work.")]);
    using first = openScreen(home, { columns: 110, rows: 30 });
    await first.say(`export PAI_STORE_URL='${env.PAI_STORE_URL}'; "$PAI"`, ready);
    await first.say("where are you?", /I am at home\./);
    await first.say("/exit", /go on with: pai resume/);
    const [, id = ""] = /pai resume (\S+)/.exec(first.text()) ?? [];
    await first.shell("true");

    const listed = await work.pai(["resume", "--list"], { env });
    expect(listed.stdout).toMatch(
      new RegExp(`^${id}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  1 turn  where are you\\?  \\(on .+\\)$`, "m"),
    );
    using second = openScreen(work, { columns: 110, rows: 30 });
    const resume = `export PAI_STORE_URL='${env.PAI_STORE_URL}'; "$PAI" resume ${id.slice(0, 15)}`;
    await second.say(resume, /was fetched from the store/);
    await second.shows(/1 turn\s+> where are you\?/);
    await second.say("and now?", /I am at work\./);
    await second.say("/exit", /go on with: pai resume/);
    await second.shell("true");
    expect(JSON.stringify(work.gemini.requests.at(-1))).toContain("I am at home.");
    expect(server.sql("select turns from pai.sessions where who = 'uma'")).toBe("2");
  });
});
