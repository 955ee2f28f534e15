/** The connection to a team's database: addresses, TLS, layouts, and the errors when it cannot be used. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { version } from "../../src/cli/commands/version.ts";
import { migrations, openTeamStore, readAddress } from "../../src/lab/team/team-store.ts";
import { newFolder } from "../grounds.ts";
import { needs } from "../needs.ts";
import { listenHere, type Postgres, postgres, startPostgres } from "./postgres.ts";

const open = (url: string, withinMs = 20_000) => openTeamStore(readAddress(url), withinMs);

/** What a question to a store fails with. */
async function failureOf(url: string, withinMs?: number) {
  const store = open(url, withinMs);
  try {
    await store.query("select 1", []);
    return null;
  } catch (thrown) {
    return thrown as { readonly code: string; readonly message: string; readonly hint: string };
  } finally {
    await store.close();
  }
}

describe("an address", () => {
  test("over the network is verified, whatever is left out", () => {
    expect(readAddress("postgres://ana:pw@db.example.com/pai")).toMatchObject({
      name: "db.example.com:5432/pai",
      host: "db.example.com",
      port: 5432,
      database: "pai",
      user: "ana",
      password: "pw",
      tls: "verify",
    });
    expect(readAddress("postgres://db.example.com/pai?sslmode=verify-full").tls).toBe("verify");
  });

  test.each(["disable", "allow", "prefer", "require"])("over the network cannot have sslmode=%s", (mode) => {
    expect(() => readAddress(`postgres://ana:pw@127.evil.example/pai?sslmode=${mode}`)).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.not.stringContaining("pw") }),
    );
  });

  test.each([
    ["postgres://127.0.0.1/pai", "prefer"],
    ["postgres://[::1]:1/pai", "prefer"],
    ["postgres://localhost/pai?sslmode=require", "require"],
    ["postgres://ana@/pai?host=/run/postgresql", "prefer"],
    ["postgres://localhost/pai?sslmode=verify-full", "verify"],
  ] as const)("of this machine goes by its sslmode: %s", (url, tls) => {
    expect(readAddress(url).tls).toBe(tls);
  });

  test.each([
    ["mysql://host/pai", "must be a URL"],
    ["postgres://host/pai?sslmode=maybe", "sslmode=maybe"],
    ["postgres://localhost/pai?host=db.example.com", "host="],
    ["postgres:///pai", "does not name a server"],
    ["postgres://ana:100%@db.example.com/pai", "is not an escape"],
    ["postgres:///pai?host=/run&port=99999", "port"],
    ["postgres://localhost/pai?sslrootcert=/nowhere/ca.pem", "cannot be read"],
  ])("that cannot be used is refused with the reason: %s", (url, why) => {
    expect(() => readAddress(url)).toThrow(
      expect.objectContaining({ code: "config_invalid", message: expect.stringContaining(why) }),
    );
  });
});

test("a server that is not there is away, and nothing waits for it", async () => {
  expect(await failureOf("postgres://ana:secret@127.0.0.1:1/pai")).toMatchObject({
    code: "store_away",
    message: expect.stringMatching(/^the store 127\.0\.0\.1:1\/pai cannot be used now: (?!.*secret)/),
  });
});

test("a server that is not PostgreSQL is reported as such", async () => {
  const web = listenHere({ data: (socket) => void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n") });
  const failure = await failureOf(`postgres://ana@127.0.0.1:${web.port}/pai?sslmode=verify-full`);
  web.stop(true);
  expect(failure).toMatchObject({ code: "store_away", message: expect.stringMatching(/is not PostgreSQL$/) });
});

test("a server that takes the connection and says nothing is away after the time that was given", async () => {
  const silent = listenHere();
  const failure = await failureOf(`postgres://ana@127.0.0.1:${silent.port}/pai`, 300);
  silent.stop(true);
  expect(failure?.code).toBe("store_away");
});

needs(postgres).describe("a real server", () => {
  let server: Postgres;
  beforeAll(() => {
    server = startPostgres();
    server.sql("create role ana login; create role bob login");
    server.sql("create database other");
  });
  afterAll(() => server.stop());

  test("is laid out once, though twenty machines open it at the same time", async () => {
    const stores = Array.from({ length: 20 }, () => open(server.url()));
    const rows = await Promise.all(stores.map((store) => store.query("select count(*)::int as n from pai.runs", [])));
    await Promise.all(stores.map((store) => store.close()));
    expect(rows).toHaveLength(20);
    expect(server.sql("select version || ' ' || pai from pai.migrations order by version").split("\n")).toEqual(
      migrations.map((_, at) => `${at + 1} ${version}`),
    );
  });

  test("of a newer layout is refused with a sentence that says what to do", async () => {
    server.sql(`insert into pai.migrations values (${migrations.length + 1}, now(), '9.9.9')`);
    const failure = await failureOf(server.url());
    server.sql(`delete from pai.migrations where version > ${migrations.length}`);
    expect(failure).toMatchObject({
      code: "config_invalid",
      message: `the store ${server.folder} (port ${server.port})/postgres has layout ${migrations.length + 1}, this pai knows ${migrations.length} at most`,
      hint: "a newer pai has made it: install that version here too",
    });
    expect(await failureOf(server.url())).toBeNull();
  });

  test("with a login that may not make the layout says who must", async () => {
    const failure = await failureOf(server.url("bob").replace("/postgres?", "/other?"));
    expect(failure).toMatchObject({ code: "config_invalid", hint: expect.stringContaining("owner of the database") });
  });

  test("that does not know the login or the database is a matter of the settings", async () => {
    expect(await failureOf(server.url("nobody-here"))).toMatchObject({ code: "config_invalid" });
    expect(await failureOf(server.url().replace("/postgres?", "/none?"))).toMatchObject({ code: "config_invalid" });
  });

  test("that dies in the middle of a question is away, and answers again when it is back", async () => {
    const store = open(server.url());
    await store.query("select 1", []);
    const asked = store.query("select pg_sleep(20)", []);
    await Bun.sleep(100);
    server.kill();
    await expect(asked).rejects.toMatchObject({ code: "store_away" });
    await asked.catch(() => {});
    await expect(store.query("select 1", [])).rejects.toMatchObject({ code: "store_away" });
    server.start();
    expect(await store.query("select 1 as one", [])).toEqual([{ one: 1 }] as never);
    await store.close();
  });
});

needs(postgres, "openssl").describe("TLS", () => {
  let server: Postgres;
  let folder: string;
  const makeCert = (name: string) => {
    const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
    const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
    const what = "req -new -x509 -nodes -days 2 -newkey rsa:2048".split(" ");
    spawnSync("openssl", [...what, "-keyout", key, "-out", cert, ...subject]);
    return { key, cert };
  };
  beforeAll(() => {
    folder = newFolder("disk", "tls");
    server = startPostgres(makeCert("localhost"));
  });
  afterAll(() => {
    server.stop();
  });
  const url = (query: string) => `postgres://owner@localhost:${server.port}/postgres?${query}`;

  test("a certificate that nobody vouches for is refused", async () => {
    expect(await failureOf(url("sslmode=verify-full"))).toMatchObject({
      code: "tls",
      hint: "name its certificate: store.url …?sslrootcert=FILE",
    });
  });

  test("one that is named is trusted, for its own name only", async () => {
    const named = `sslmode=verify-full&sslrootcert=${join(folder, "localhost.pem")}`;
    const store = open(url(named));
    const told = await store.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()", []);
    expect(told).toEqual([{ ssl: true }] as never);
    await store.close();
    expect(await failureOf(url(named).replace("@localhost", "@127.0.0.1"))).toMatchObject({ code: "tls" });
    makeCert("other.example");
    expect(await failureOf(url(named.replace("localhost.pem", "other.example.pem")))).toMatchObject({ code: "tls" });
  });

  test("no variable turns the verification off", async () => {
    const script = `import { openTeamStore } from ${JSON.stringify(join(import.meta.dir, "../../src/lab/team/team-store.ts"))};
      import { version } from "../../src/cli/commands/version.ts";
import { readAddress } from ${JSON.stringify(join(import.meta.dir, "../../src/lab/team/team-store.ts"))};
      const store = openTeamStore(readAddress(${JSON.stringify(url("sslmode=verify-full"))}), 20000);
      console.log(await store.query("select 1", []).then(() => "open", (error) => error.code)); await store.close();`;
    const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    expect(spawnSync(process.execPath, ["-e", script], { env, encoding: "utf8" }).stdout.trim()).toBe("tls");
  });
});
