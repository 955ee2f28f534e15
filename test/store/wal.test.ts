/** Processes that open a new database at the same moment wait for each other. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { makeFolder } from "./temp-home.ts";

const program = `
import { Database } from "bun:sqlite";
import { useWal } from ${JSON.stringify(join(import.meta.dir, "../../src/store/wal.ts"))};
const [file, at] = process.argv.slice(-2);
while (Date.now() < Number(at)) {}
for (let n = 0; n < 120; n += 1) {
  const db = new Database(file + n);
  useWal(db, 10_000);
  db.run("create table if not exists t (a)");
  db.run("insert into t values (1)");
  db.close();
}
`;

test("none fails while another one changes the journal of the file", async () => {
  const file = join(makeFolder(), "db");
  const at = Date.now() + 300;
  const children = Array.from({ length: 6 }, () =>
    Bun.spawn([process.execPath, "-e", program, file, `${at}`], { stdout: "ignore", stderr: "pipe" }),
  );
  const errors = await Promise.all(children.map(({ stderr }) => stderr.text()));
  expect(errors).toEqual(errors.map(() => ""));
});
