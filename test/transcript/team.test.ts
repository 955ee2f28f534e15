/** The built binary and a team's database: a real PostgreSQL, skipped where there is none. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { readCommand } from "./contract.ts";
import { openPlace, patience } from "./harness.ts";
import { talked } from "./replies.ts";

setDefaultTimeout(patience);

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
  const put = await place.pai(["config", "put", "store.url", env.PAI_STORE_URL]);
  const said = [doctor, shown, put, await place.pai(["config", "get"])].map(({ stdout, stderr }) => stdout + stderr);
  expect(said.join("")).not.toContain("s3cr3t");
});

describe.skipIf(!hasPostgres)("with a real server", () => {
  let server: Postgres;
  beforeAll(() => {
    server = startPostgres();
  });
  afterAll(() => server.stop());

  test.concurrent("the doctor lays out a new store and says who it is there", async () => {
    await using place = openPlace();
    const { data } = readCommand(await place.pai(["doctor", "--json"], { env: { PAI_STORE_URL: server.url() } }));
    expect(findingOf(data)).toMatchObject({
      level: "ok",
      text: expect.stringMatching(/ as owner: layout \d+, \d+ runs \(PAI_STORE_URL\)$/),
    });
  });
});
