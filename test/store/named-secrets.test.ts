/** What the environment and the `.env` files of a folder name as secrets. */
import { expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findNamedSecrets as find, type NamedPlaces } from "../../src/store/named-secrets.ts";
import { expectCpu } from "../core/cpu-time.ts";
import { newFolder } from "../grounds.ts";

const root = newFolder("disk", "named");
const findNamedSecrets = (env: NamedPlaces["env"], from: string, known: readonly string[] = []) =>
  find({ env, root: from, known });
const value = "Zx9kQ2mR7tLp4VwA8sNd";

test("a variable tells by its name and look; ordinary words are no secrets", () => {
  const words = { DEBUG: "true", HOST: "localhost", PASSWORD: "password" };
  const usual = { SECRET: "1234567890", DB_PASSWORD: "postgres", HOME: "/root" };
  const other = `${value}2`;
  expect(findNamedSecrets({ ...words, ...usual, MOTTO: value, API_KEY_2: other }, root)).toEqual([other]);
  const known = { OPENAI_API_KEY: value, OTHER_KEY: other, API_KEY: other };
  expect(findNamedSecrets(known, root, [value])).toEqual([other]);
});

test("a provider's key in its own variable needs no look; of what is not a key as a whole each part is found", () => {
  const key = `AIza${"key-of-one-word-".repeat(2)}`;
  expect(findNamedSecrets({ GEMINI_API_KEY: key, MOTTO: "AIza" }, root)).toEqual([key]);
  const parts = findNamedSecrets({ GEMINI_API_KEY: `${key} ${value}`, OPENAI_API_KEY: "sk-" }, root);
  expect(parts).toEqual(expect.arrayContaining([key, value]));
});

test("each usual name of a secret is one", () => {
  const names = [
    "DB_PASSWORD DB_PASS MYSQL_PASS SMTP_PASS PGPASS RABBITMQ_DEFAULT_PASS REDIS_AUTH BASIC_AUTH GITHUB_PAT CREDS JWT",
    "STRIPE_KEY APP_KEY SSH_KEY DEPLOY_KEY_B64 APIKEY KEY SUPABASE_SERVICE_ROLE_KEY SESSION_COOKIE HMAC_SALT DJANGO_SK",
    "APP_PASSPHRASE dbPass API_KEY_2 AWS_SESSION_TOKEN",
  ].flatMap((line) => line.split(" "));
  expect(names.filter((name) => !findNamedSecrets({ [name]: value }, root).includes(value))).toEqual([]);
  const others = "COMPASS KEYBOARD AUTHOR PATH SALTED SSH_PUBLIC_KEY GPG_KEY KEY_ID MONKEY PATTERN".split(" ");
  expect(others.filter((name) => findNamedSecrets({ [name]: value }, root).length > 0)).toEqual([]);
});

test("a named value is taken whole, whatever it holds", () => {
  const signs = ['"', "'", "`", "\\", " ", "<", "${", "...", "your", "%s", ",", "{{"];
  const marked = signs.flatMap((sign) => [`Zx9k${sign}Q2mR7tLp4Vw`, `Zx9kQ2mR7tLp4Vw${sign}`.trim()]);
  for (const each of [...marked, "Zx9kQ2mR7tLp4Vw".repeat(150)]) {
    expect(findNamedSecrets({ DB_PASSWORD: each }, root)).toContain(each);
  }
  for (const around of [`${value}\n`, ` ${value}`, `"${value}"`]) {
    expect(findNamedSecrets({ DB_PASSWORD: around }, root)).toContain(value);
  }
});

test("ids, paths, addresses and what stands for a value are no secrets, whatever they are named", () => {
  const id = "3f2b8c1d-9e4a-4f6b-8c2d-1a2b3c4d5e6f";
  const free = [id, "/tmp/tmp.aB3dE5fG7h/k9", "https://a1.b2c3/T0aB3dE5f", `\${Ab1Cd2Ef3Gh4}`, `your-${value}`];
  for (const each of free) expect(findNamedSecrets({ APP_KEY: each }, root)).toEqual([]);
});

test("of a private key each line is one", () => {
  const lines = [`${value}${value}1`, `${value}${value}2`, `${value}3=`];
  const [begin, end] = ["BEGIN", "END"].map((word) => `-----${word} OPENSSH PRIVATE KEY-----`);
  const key = (ending: string) => [begin, ...lines, end].join(ending);
  for (const ending of ["\n", "\r\n", "\\n"]) expect(findNamedSecrets({ DEPLOY: key(ending) }, root)).toEqual(lines);
  const document = JSON.stringify({ type: "service", key: key("\n") });
  expect(findNamedSecrets({ CREDENTIALS: document }, root)).toEqual(lines);
});

test("a variable that commands are given needs no name", () => {
  const env = { MOTTO: value, HOST: "localhost", BUILD: `${value}2` };
  expect(find({ env, root, given: ["MOTTO", "HOST"] })).toEqual([value]);
});

test("a .env file tells in each way to write a setting", () => {
  writeFileSync(
    join(root, ".env"),
    `# ${value}0\r\nAPI_TOKEN=${value}1\r\nexport DB_PASSWORD_PROD = '${value}2' # new\nURL="postgres://u:${value}3@h/x"\n`,
  );
  expect(findNamedSecrets({}, root).toSorted()).toEqual([1, 2, 3].map((n) => value + n));
});

test("a value of a .env file may hold other marks, and its name and sign may be of other kinds", () => {
  const settings = {
    [`DB_PASSWORD='Zx9k"Q2mR7tLp4Vw'`]: `Zx9k"Q2mR7tLp4Vw`,
    [`DB_PASSWORD="Zx9k'Q2mR7tLp4Vw" # new`]: `Zx9k'Q2mR7tLp4Vw`,
    'DB_PASSWORD="Zx9k\\"Q2mR7tLp4Vw"': 'Zx9k"Q2mR7tLp4Vw',
    "DB_PASSWORD=Zx9k<Q2mR7tLp4Vw # old": "Zx9k<Q2mR7tLp4Vw",
    'DB_PASSWORD="Zx9k Q2mR7tLp4Vw"': "Zx9k Q2mR7tLp4Vw",
    "DB-PASSWORD=Zx9kQ2mR7tL": "Zx9kQ2mR7tL",
    "DB_PASSWORD: Zx9kQ2mR7tL": "Zx9kQ2mR7tL",
    "export A_PASS=Zx9kQ2mR7tL; export B=1": "Zx9kQ2mR7tL",
  };
  for (const [line, expected] of Object.entries(settings)) {
    writeFileSync(join(root, ".env"), `A=1\n${line}\nB=2\n`);
    expect([line, findNamedSecrets({}, root).includes(expected)]).toEqual([line, true]);
  }
});

test("no file of the project holds pai up", () => {
  writeFileSync(join(root, ".env"), "\n".repeat(65_536));
  writeFileSync(join(root, ".env.local"), "a\n \n".repeat(13_000));
  writeFileSync(join(root, ".env.test"), "TOKEN=".repeat(10_000));
  writeFileSync(join(root, ".env.production"), `PASS=a${" ".repeat(30_000)}b\nPASS="${"' ".repeat(16_000)}`);
  writeFileSync(join(root, ".env.staging"), `PASS=${'" '.repeat(30_000)}a`);
  symlinkSync("/dev/zero", join(root, ".envrc"));
  expectCpu(1000, () => findNamedSecrets({}, root));
});
