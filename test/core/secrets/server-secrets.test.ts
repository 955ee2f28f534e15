/** Passwords of servers are hidden in settings, logs and output; in source code only string literals are. */
import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { maskSecrets, searchSecrets } from "../../../src/core/secrets/key-shapes.ts";
import { findNamedValues, isDistinct, mannerOfFile } from "../../../src/core/secrets/named-values.ts";
import { createVeil } from "../../../src/core/secrets/veil.ts";

const hash = "Xk3vQ9zLr1Tn7BwY5cFd2h";
const hex = "9f3a1c0be47d52816a".repeat(3);

const [sha512, yescrypt, bcrypt] = ["$6$saltsalt$", "$y$j9T$saltsaltsalt$", "$2y$10$"].map(
  (begin, at) => begin + hash.repeat(4).slice(0, [86, 43, 53][at]),
) as [string, string, string];

test.each([
  [`root:${sha512}:19000:0:99999:7:::`, sha512],
  [`deploy:${yescrypt}:1:`, yescrypt],
  [`old:$1$salt$${hash}:1:`, `$1$salt$${hash}`],
  [`web:$apr1$salt$${hash}`, `$apr1$salt$${hash}`],
  [`api:${bcrypt}`, bcrypt],
  [`$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$${hash.repeat(2)}`, hash.repeat(2)],
  ["password=abc", "abc"],
  ["password = Sommer2024 # note", "Sommer2024"],
  ["  password: geheim\n  user: x", "geheim"],
  ["psk=12345678", "12345678"],
  ["requirepass tiger", "tiger"],
  ["BINDPW s3cr3t", "s3cr3t"],
  ["bindpw: badger", "badger"],
  [`SECRET_KEY_BASE: ${hex}`, hex],
  ["aws_secret_access_key = wJalr/K7MDENG+bPxRfiCYzz", "wJalr/K7MDENG+bPxRfiCYzz"],
  ["APP_SECRET_V2=tiger", "tiger"],
  ["smtp_pass=hunter2", "hunter2"],
  ["PGPASSWORD=geheim77 pg_dump x", "geheim77"],
  ["mysqldump -u root -pgeheim shop", "geheim"],
  ["curl -u admin:tiger https://x.test", "tiger"],
  ["connected as root:tiger@db1.example.org", "tiger"],
  ["ftp://backup:tiger99@host/x", "tiger99"],
  ["<password>tiger</password>", "tiger"],
  [`secret "tiger";`, "tiger"],
  ['proxy_set_header X-Token "tok_live_51Habcdef";', "tok_live_51Habcdef"],
  ['proxy_set_header Authorization "Bearer tok_live_51";', "tok_live_51"],
  ["RequestHeader set X-Api-Key tok_live_51", "tok_live_51"],
  ["http-request set-header X-Auth-Token tok_live_51", "tok_live_51"],
  [`$ANSIBLE_VAULT;1.1;AES256\n${"61626364".repeat(10)}\n${"62636465".repeat(10)}\n3133\n`, "6263646562"],
  [`key: !vault |\n  $ANSIBLE_VAULT;1.2;AES256;dev\n  ${"61626364".repeat(10)}\n  6162\nad: 8080\n`, "61626364"],
])("hides %s", (text, secret) => {
  expect(maskSecrets(text, "plain")).not.toContain(secret);
  const veil = createVeil();
  expect(veil.reveal(veil.hideRaw(text, "plain"), () => true).text).toBe(text);
});

test.each([
  "DB_PASSWORD=Hq7!k%Q$2&vB^m",
  "set DB_PASSWORD=Hq7!k%Q$2&vB^m in .env",
  'DB_PASSWORD=Hq7"!k%Q$2',
  `password = Zq9"%k!#t7abc`,
  String.raw`database password: Zq9$&*{x}"%\k!#t7`,
  "set the password to Hx7!kQ$2&vB^m9 in config.ini",
  `the password "Kk9{q}|~!x" is new`,
  `the password "Kk9{q}|~<z>!x"`,
  'set password="a$2 vB!x" in calc.py and use it',
  String.raw`DB_PASSWORD="Gnu55&yak \"t7\" vB"`,
  JSON.stringify(String.raw`DB_PASSWORD="Gnu55&yak \"t7\" vB" pg_dump`),
  `PASSWORD='Zebra9&quagga "vB'`,
  `password="aB3dE6gH9'$2 vB"`,
  'my password is "Okapi7&lemur vB", ok?',
  'my password is: "x Okapi7&lemur vB"',
])("hides the whole value in %s", (text) => {
  const left = maskSecrets(text, "plain");
  for (const part of ["vB", "$2", "!x", "t7", "*"]) expect(left).not.toContain(part);
});

test("a value in quotation marks with a blank in it is hidden whole in source code, too", () => {
  expect(maskSecrets('password = "Quok5&kaaaa1 xyz1"\n', "code")).toBe('password = "Quok…[masked]"\n');
});

test.each([
  ["curl -d user=me&password=tiger99&csrf=1 http://x", "user=me&password=", "&csrf=1 http://x"],
  ['sh -c "mysql --password=tiger99" && ls', 'sh -c "mysql --password=', '" && ls'],
  ["PGPASSWORD=tiger99&& psql", "PGPASSWORD=", "&& psql"],
  [`{"cmd":"--password=tiger99","user":1}`, `{"cmd":"--password=`, `","user":1}`],
])("hides no more than the value in %s", (text, before, after) => {
  const left = maskSecrets(text, "plain");
  expect([left.includes(before), left.endsWith(after), left.includes("tiger99")]).toEqual([true, true, false]);
});

test.each([
  "password=",
  'password = f"{user}-{host}"',
  "password: r'abc'",
  "The password must hold 8 characters, A-Z and 0-9!",
  "the password is in config.ini",
  `password: \${DB_PASSWORD}`,
  "password=$DB_PASSWORD",
  "password = {{ vault_password }}",
  "password: <your password>",
  "PasswordAuthentication yes",
  "%wheel ALL=(ALL) NOPASSWD: ALL",
  "PWD=/root/tiger",
  "passwd:         files systemd",
  "proxy_pass http://backend;",
  "PASS: src/tiger.test.ts",
  "pass: 12, fail: 0",
  "bypass: always",
  "The password: must have at least 12 characters",
  "secret_name: tiger",
  "password_file = /run/secrets/tiger",
  "ssl_password_file /etc/keys/global.pass;",
  "image: redis:latest@sha256:abc",
  "mailto:joe@example.org",
  "password: string",
  'the password="…" field',
  'password = "enter a new one"',
  '"password": "At least 8 characters & more!"',
  String.raw`{"password": "Contrase\u00f1a nueva"}`,
  `html = '<input name="password="' + p4w + '" id="a b">'`,
  'rename the label password "old text" to "step2"',
])("leaves %s", (text) => expect(maskSecrets(text, "plain")).toBe(text));

test.each([
  "const password = readPassword2;",
  "interface Login {\n  password: Tiger;\n}",
  "password: Tiger,",
  "login(password=tiger)",
  "const pass = actual >= min;",
  `{"pbkdf2-password": "1.2.1"}`,
  `{"password": "Your password"}`,
])("only string literals count in source code: %s", (text) => expect(maskSecrets(text, "code")).toBe(text));

test("a short value, a word, a number and an identifier are hidden at their place only", () => {
  for (const value of ["tig3r!", "correcthorse", "1234567890", "newPassword2", "Vec3Type"]) {
    const veil = createVeil();
    expect(veil.hideRaw(`psk = "${value}"`)).toContain("<<SECRET_");
    expect(veil.hideRaw(`say ${value}`)).toBe(`say ${value}`);
    expect(isDistinct(value)).toBe(false);
  }
  const veil = createVeil();
  veil.hideRaw(`psk = "correct!horse"`);
  expect(veil.hideRaw("say correct!horse")).toContain("<<SECRET_");
});

/** Masked pieces of source code that are neither literals nor distinct. */
function misread(text: string): readonly string[] {
  const named = [...findNamedValues(text, "code")].filter(
    ({ start, end }) => !/["'`]/.test(text.charAt(start - 1)) || !/["'`\\]/.test(text.charAt(end)),
  );
  const learned = searchSecrets(text).spans.filter(
    ({ start, end, isLocal }) => isLocal !== true && /^[A-Za-z_$]+\d?$/.test(text.slice(start, end)),
  );
  return [...named, ...learned].map(({ start, end }) => text.slice(start - 30, end));
}

test("in public packages no identifier is masked, and none is learned", () => {
  const root = join(import.meta.dir, "../../../node_modules");
  let searched = 0;
  for (const path of new Bun.Glob("*/**/*.{ts,js,mjs,cjs,json,md,css}").scanSync({ cwd: root })) {
    const file = join(root, path);
    if (statSync(file).size > 200_000) continue;
    const text = readFileSync(file, "utf8");
    searched += text.length;
    expect([path, mannerOfFile(path), ...misread(text)]).toEqual([path, "code"]);
  }
  expect(searched).toBeGreaterThan(10_000_000);
});
