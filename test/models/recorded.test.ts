/**
 * Bodies of real services, as `bun scripts/smoke.ts` records them or as their users quote them (`source`): pai reads every
 * one. A file of anybody's run is a test as it is; `expect.code` says what an error must mean.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findSecrets } from "../../src/core/secrets/new-secrets.ts";
import { type Recorded, replay, shape } from "./read-recorded.ts";

const folder = join(import.meta.dir, "recorded");
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
const read = (name: string): Recorded => shape.parse(JSON.parse(readFileSync(join(folder, name), "utf8")));

test.each(names)("%s", async (name) => {
  const recorded = read(name);
  const { list, error, done } = await replay(recorded);
  if (recorded.method === "GET" && recorded.status === 200) expect(list?.models.length).toBeGreaterThan(0);
  else if (recorded.status >= 400) {
    expect(error?.code).not.toBe("internal");
    expect(error?.code ?? "no error").toBe((recorded.expect?.code ?? error?.code ?? "an error") as string);
  } else expect([error, (done?.usage.input ?? 0) > 0]).toEqual([null, true]);
});

test("no recorded body holds a key or the name of an account", () => {
  for (const name of names) {
    const text = readFileSync(join(folder, name), "utf8");
    expect([name, findSecrets(text), /\b(?:user|org|proj)[-_][A-Za-z0-9]{10,}/.exec(text)?.[0]]).toEqual([
      name,
      [],
      undefined,
    ]);
  }
});
