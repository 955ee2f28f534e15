/** Sessions of a team's database: private to their user, gone on with elsewhere, never mixed. */
import { beforeEach, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openOutbox } from "../../src/lab/team/outbox.ts";
import { fetchSession, listTeamSessions, mailSession, pushSessions } from "../../src/lab/team/shared.ts";
import { openSessions } from "../../src/store/sessions.ts";
import { needs } from "../needs.ts";
import { makeFolder } from "../store/temp-home.ts";
import { postgres, usePostgres } from "./postgres.ts";

const id = "20261122-100000-0123abcd";
const root = "/home/ana/shop";
const started = JSON.stringify({ type: "session.started", v: 1, id, at: "2026-11-22T10:00:00Z", root });
const turn = (n: number, request = `task ${n}`) => {
  const begun = { at: `2026-11-22T10:0${n}:00Z`, run: `r${n}`, mode: "auto", model: "m", request };
  return JSON.stringify({ type: "turn.started", ...begun });
};

needs(postgres).describe("a real server", () => {
  const server = usePostgres("ana", "bob");
  beforeEach(() => {
    server.sql("delete from pai.sessions; delete from pai.session_lines");
  });

  /** One machine of a user. */
  function open(who: string, root = "/home/ana/shop") {
    const state = makeFolder();
    const folder = join(state, "sessions");
    mkdirSync(folder);
    const store = server.store(who);
    const outbox = openOutbox(join(state, "outbox"));
    const file = join(folder, `${id}.jsonl`);
    return {
      store,
      folder,
      file,
      outbox,
      write: (...lines: readonly string[]) => appendFileSync(file, lines.map((line) => `${line}\n`).join("")),
      async push() {
        mailSession(outbox, who, { folder, id, root });
        await pushSessions(store, outbox);
      },
      fetch: (wanted: string | null = null) => fetchSession(store, folder, { root, wanted }),
      turns: () =>
        openSessions(state, root)
          .load(id)
          .session.turns.map(({ request }) => request),
    };
  }

  test("a session goes on at another machine and comes back, each line once", async () => {
    const [home, work] = [open("ana"), open("ana", "/srv/work/shop")];
    home.write(started, turn(1));
    await home.push();
    await home.push();
    expect(await work.fetch()).toMatchObject({ id, host: "ana", how: "fetched" });
    expect([work.turns(), statSync(work.file).mode & 0o777]).toEqual([["task 1"], 0o600]);
    work.write(turn(2));
    await work.push();
    expect(await home.fetch(id.slice(0, 12))).toMatchObject({ how: "fetched" });
    expect(await home.fetch()).toMatchObject({ how: "known" });
    expect(home.turns()).toEqual(["task 1", "task 2"]);
    expect(readFileSync(home.file, "utf8")).toBe(readFileSync(work.file, "utf8"));
    const [listed] = await listTeamSessions(home.store, { root: "/anywhere/shop", wanted: null });
    expect(listed).toMatchObject({ id, turns: 2, preview: "task 1", project: "shop" });
    expect(await listTeamSessions(home.store, { root: "/home/ana/other", wanted: null })).toEqual([]);
  });

  test("a session that was continued on two machines is reported, and neither copy is touched", async () => {
    const [home, work] = [open("ana"), open("ana")];
    home.write(started, turn(1));
    await home.push();
    await work.fetch();
    home.write(turn(2, "at home"));
    work.write(turn(2, "at work"));
    await home.push();
    await work.push();
    expect(await work.fetch()).toMatchObject({ how: "forked" });
    expect(home.turns()).toEqual(["task 1", "at home"]);
    expect(work.turns()).toEqual(["task 1", "at work"]);
    expect(server.sql("select count(*) from pai.session_lines")).toBe("3");
  });

  test("nobody sees or changes the sessions of another login", async () => {
    const [ana, bob] = [open("ana"), open("bob")];
    ana.write(started, turn(1));
    await ana.push();
    expect([await bob.fetch(id), await bob.fetch(), existsSync(bob.file)]).toEqual([null, null, false]);
    for (const table of ["pai.sessions", "pai.session_lines"]) {
      expect(await bob.store.query(`select * from ${table}`, [])).toHaveLength(0);
      expect(await bob.store.query(`delete from ${table} returning 1`, [])).toHaveLength(0);
    }
    const forged = "insert into pai.session_lines (who, id, n, line) values ('ana', $1, 3, 'x')";
    await expect(bob.store.query(forged, [id])).rejects.toMatchObject({ code: "config_invalid" });
    expect(await open("ana").fetch()).toMatchObject({ how: "fetched" });
  });

  test("rows that others made up have no effect: no path, no second line, no invalid shape", async () => {
    const { store, folder, fetch, turns } = open("ana");
    const insert = "insert into pai.sessions (id, project, host, turns, preview) values ($1, 'shop', 'h', -7, 'p')";
    await expect(store.query(insert.replace("-7", "1"), ["../../../x"])).rejects.toMatchObject({ code: "failed" });
    await store.query(insert, [id]);
    await store.query(
      "insert into pai.session_lines (id, n, line) values ($1, 1, $2), ($1, 2, 'not json'), ($1, 3, $3)",
      [id, `${started}\n${turn(9, "smuggled")}`, turn(1)],
    );
    await fetch();
    expect(turns()).toEqual(["task 1"]);
    expect(openSessions(dirname(folder), "/").load(id).damaged).toBe(2);
  });

  test("a long session is sent in parts, a link and a missing file are passed over", async () => {
    const { write, push, outbox, folder, store } = open("ana");
    write(started, ...Array.from({ length: 9 }, (_, n) => turn(n, "x".repeat(600_000))));
    await push();
    expect(server.sql("select count(*) || ' ' || sum(length(line)) > '10 5' from pai.session_lines")).toBe("t");
    outbox.put("session", "0".repeat(32), { folder, id: "20261122-100000-00000000", project: "p", host: "h" });
    outbox.put("session", "1".repeat(32), { folder, id: "../../etc/passwd", project: "p", host: "h" });
    writeFileSync(join(folder, "other"), "");
    await pushSessions(store, outbox);
    expect([outbox.waiting(), server.sql("select count(*) from pai.sessions")]).toEqual([0, "1"]);
  });

  test("a session is sent to its end later when the server dies between two parts", async () => {
    const { write, push, store, outbox } = open("ana");
    write(started, ...Array.from({ length: 40 }, (_, n) => turn(n % 10, `${n} ${"x".repeat(400_000)}`)));
    const pushing = push().then(
      () => "all",
      (thrown) => thrown.code as string,
    );
    while (Number(server.sql("select count(*) from pai.session_lines")) === 0) await Bun.sleep(2);
    server.kill();
    expect(await pushing).toBe("store_away");
    expect(outbox.waiting()).toBe(1);
    server.start();
    await pushSessions(store, outbox);
    expect(server.sql("select count(*) || ' ' || max(n) from pai.session_lines")).toBe("41 41");
  });
});
