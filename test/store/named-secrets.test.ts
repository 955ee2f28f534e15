/** What the environment and the `.env` files of a folder name as secrets. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findNamedSecrets } from "../../src/store/named-secrets.ts";
import { measureCpu } from "../core/cpu-time.ts";

const root = mkdtempSync(join(tmpdir(), "pai-named-"));
afterAll(() => rmSync(root, { recursive: true }));
const value = "Zx9kQ2mR7tLp4VwA8sNd";

test("a variable tells by its name and look; ordinary words are no secrets", () => {
  const words = {
    DEBUG: "true",
    HOST: "localhost",
    PASSWORD: "password",
    SECRET: "1234567890",
    DB_PASSWORD: "postgres",
  };
  expect(findNamedSecrets({ ...words, MOTTO: value, API_KEY_2: `${value}2`, HOME: "/root" }, root)).toEqual([
    `${value}2`,
  ]);
  expect(
    findNamedSecrets({ OPENAI_API_KEY: value, OTHER_KEY: `${value}2`, API_KEY: `${value}2` }, root, [value]),
  ).toEqual([`${value}2`]);
});

test("a provider's key in its own variable needs no look; what is not a key as a whole is searched", () => {
  const key = `AIza${"key-of-one-word-".repeat(2)}`;
  expect(findNamedSecrets({ GEMINI_API_KEY: key, MOTTO: "AIza" }, root)).toEqual([key]);
  expect(findNamedSecrets({ GEMINI_API_KEY: `${key} ${value}`, OPENAI_API_KEY: "sk-" }, root)).not.toContain(
    `${key} ${value}`,
  );
});

test("a .env file tells in each way to write a setting", () => {
  writeFileSync(
    join(root, ".env"),
    `# ${value}0\r\nAPI_TOKEN=${value}1\r\nexport DB_PASSWORD_PROD = '${value}2' # new\nURL="postgres://u:${value}3@h/x"\n`,
  );
  expect(findNamedSecrets({}, root).toSorted()).toEqual([1, 2, 3].map((n) => value + n));
});

test("no file of the project holds pai up", () => {
  writeFileSync(join(root, ".env"), "\n".repeat(65_536));
  writeFileSync(join(root, ".env.local"), "a\n \n".repeat(13_000));
  writeFileSync(join(root, ".env.test"), "TOKEN=".repeat(10_000));
  symlinkSync("/dev/zero", join(root, ".envrc"));
  expect(measureCpu(() => findNamedSecrets({}, root))).toBeLessThan(1000);
});
