/** Keys are found and masked in every spelling, and harmless text is left alone. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { maskSecrets, newSecrets, openHolding } from "../../../src/core/secrets/key-shapes.ts";
import { expectCpu } from "../cpu-time.ts";

const findSecrets = (text: string) => newSecrets(() => false, text);

/** Random-looking characters, made here so that no scanner takes this file for a leak. */
function fake(length: number, alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"): string {
  let seed = length * 7919 + alphabet.length;
  return Array.from({ length }, () => {
    seed = (seed * 48271) % 2147483647;
    return alphabet[seed % alphabet.length];
  }).join("");
}
const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const hex = "0123456789abcdef";

const tokens: readonly (readonly [kind: string, token: string])[] = [
  ["Google key", `AIza${fake(35)}`],
  ["Google key", `AQ.${fake(40)}`],
  ["Google token", `ya29.${fake(60)}`],
  ["Anthropic key", `sk-ant-api03-${fake(80)}`],
  ["API key", `sk-${fake(48)}`],
  ["API key", `sk-proj-${fake(60)}`],
  ["API key", `sk-${fake(32, hex)}`],
  ["OpenRouter key", `sk-or-v1-${fake(64, hex)}`],
  ["GitHub token", `ghp_${fake(36)}`],
  ["GitHub token", `gho_${fake(36)}`],
  ["GitHub token", `github_pat_${fake(22)}_${fake(59)}`],
  ["GitLab token", `glpat-${fake(20)}`],
  ["Slack token", `xoxb-${fake(12, "123456789")}-${fake(24)}`],
  ["AWS key id", `AKIA${fake(16, upper)}`],
  ["npm token", `npm_${fake(36)}`],
  ["PyPI token", `pypi-AgE${fake(90)}`],
  ["Hugging Face token", `hf_${fake(34)}`],
  ["Groq key", `gsk_${fake(52)}`],
  ["Stripe key", `sk_live_${fake(24)}`],
  ["SendGrid key", `SG.${fake(22)}.${fake(43)}`],
  ["JSON web token", `eyJ${fake(33)}.eyJ${fake(70)}.${fake(43)}`],
];

/** Places a key is seen in; each must be masked. */
const places: readonly ((token: string) => string)[] = [
  (token) => token,
  (token) => `const key = "${token}";`,
  (token) => `KEY=${token}\nB=1`,
  (token) => `https://x.test/v1?key=${token}&alt=sse`,
  (token) => JSON.stringify({ text: `first\n${token}\nlast` }),
  (token) => `url=https%3A%2F%2Fx%3Fkey%3D${token}%26a`,
  (token) => `\x1b[31m${token}\x1b[0m`,
  (token) => `[${token}]`,
  (token) => `12 | ${token}`,
];

test.each(tokens)("masks a %s wherever it stands (%#)", (kind, token) => {
  for (const place of places)
    expect(maskSecrets(place(token))).toBe(place(token).replace(token, `${token.slice(0, 4)}…[masked]`));
  expect(findSecrets(`a\nb ${token}`)).toEqual([{ line: 2, kind }]);
});

test("masks private keys line by line, so lines keep their numbers", () => {
  const body = `${fake(64)}\n${fake(64)}\n${fake(20)}=`;
  const pem = `-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----\n`;
  expect(maskSecrets(`a\n${pem}b`)).toBe(
    "a\n-----BEGIN RSA PRIVATE KEY-----\n[masked]\n[masked]\n[masked]\n-----END RSA PRIVATE KEY-----\nb",
  );
  expect(maskSecrets(JSON.stringify({ k: pem }))).not.toContain(body.slice(0, 20));
  expect(maskSecrets(pem.slice(0, 120))).not.toContain(body.slice(0, 20));
  expect(maskSecrets(pem.slice(0, 120) + pem)).not.toContain(body.slice(0, 20));
  expect(findSecrets(pem)).toEqual([{ line: 1, kind: "private key" }]);
  const shown = "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----";
  expect(maskSecrets(shown)).toBe(shown);
});

test("a private key in a diff stays as many added, deleted and kept lines", () => {
  const diff = `+-----BEGIN PRIVATE KEY-----\n+${fake(64)}\n-${fake(64)}\n ${fake(20)}=\n------END PRIVATE KEY-----\n`;
  expect(maskSecrets(diff)).toBe(
    "+-----BEGIN PRIVATE KEY-----\n+[masked]\n-[masked]\n [masked]\n------END PRIVATE KEY-----\n",
  );
});

const value = fake(24);
const named: readonly string[] = [
  `apiKey: "${value}"`,
  `API_KEY=${value}`,
  `export DB_PASSWORD='${value}'`,
  `"client_secret": "${value}"`,
  `access-token: ${value}`,
  `const token: string = \`${value}\``,
  `config["secret_key"] = "${value}"`,
  `'auth_token' => '${value}'`,
  `password := "${value}"`,
  `localStorage.setItem("token", "${value}")`,
  JSON.stringify(JSON.stringify({ token: value })),
  `Authorization: Bearer ${value}`,
  `authorization: Basic ${value}==`,
  `-H "Authorization: token ${value}"`,
  `{"Authorization": "Bearer ${value}"}`,
  `error for Bearer ${value}`,
  `postgres://admin:${value}@db.test/x`,
  `https://x.test/?access_token=${value}&y=1`,
  `fetch("https://x.test/?access_token=${value}")`,
  `see [it](https://x.test/a?x=1&api_key=${value}#top)`,
  `{"url": "https://x.test/mcp?key=1&client_secret=${value}"}`,
];

test.each(named)("masks a value by its name: %s", (text) => {
  const whole = value + (text.includes("Basic") ? "==" : "");
  expect(maskSecrets(text)).toBe(text.replace(whole, `${value.slice(0, 4)}…[masked]`));
  expect(findSecrets(text)).toHaveLength(1);
});

test.each([
  ["a sha256", `sha256: ${fake(64, hex)}`],
  ["a commit", `commit ${fake(40, hex)}`],
  ["a UUID", `token: "3f2504e0-4f89-41d3-9a0c-0305e82c3301"`],
  ["lock file", `"integrity": "sha512-${fake(86)}=="`],
  ["go.sum", `golang.org/x/text v0.3.0 h1:${fake(43)}=`],
  ["base64 image", `src="data:image/png;base64,iVBORw0KGgo${fake(400)}=="`],
  ["a sequence of words", 'apiKey: "your-api-key-here"'],
  ["crosses", "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx"],
  ["crosses with a prefix", 'key = "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"'],
  ["words with a prefix", "key = sk-your-openai-api-key-goes-here-123"],
  ["angle brackets", "token: <YOUR_TOKEN_1234567890abc>"],
  ["a variable", `Authorization: Bearer \${process.env["TOKEN_1"]}`],
  ["a capital placeholder", "Authorization: Bearer YOUR_ACCESS_TOKEN_1"],
  ["the documented AWS key", "AKIAIOSFODNN7EXAMPLE"],
  ["a class name", "sk-folding-cube-with-long-name-2 sk-three-bounce-animation-wrapper"],
  ["a call", "const token = parseNextToken2FromStream(input)"],
  ["an identifier", "password = newPasswordFromUserInput2"],
  ["minified code", 'function(e){return e.token=t.nextToken1,e.password=n.value2,{apiKey:e.k,secret:r}}("a")'],
  ["a type", "token: string; secretKey: Uint8Array; apiKey?: string"],
  ["a sentence", "The password: must have at least 12 characters, 1 digit and 1 upper case letter"],
  ["a key of something else", `cacheKey: "${fake(10)}"`],
  ["a token count", "maxTokens: 1234567890123456, token: 12345678901234567890"],
  ["a public key", `-----BEGIN PUBLIC KEY-----\n${fake(64)}\n-----END PUBLIC KEY-----`],
  ["part of a word", `XAIza${fake(35)}`],
  ["CSS", "--token-color-primary-100: var(--secret-color-2-dark)"],
])("raises no false alarm: %s", (_, text) => expect(findSecrets(text)).toEqual([]));

test("tells only the secrets the old text did not have", () => {
  const [a, b] = [`ghp_${fake(36)}`, `glpat-${fake(20)}`];
  expect(newSecrets(openHolding(`x = ${a}`), `y = ${a}\nz = ${b}`)).toEqual([{ line: 2, kind: "GitLab token" }]);
  expect(newSecrets(openHolding(""), a)).toHaveLength(1);
  expect(newSecrets(openHolding(a), a)).toEqual([]);
});

test("a part of a secret is new, so that no guess is confirmed; text in full view is not", () => {
  const before = 'https://x.org/?id=a1b2c3d4e5f6a7&api_key=Zx9kQ2mR7tLp4VwA8sNd\nconnect("Qw7eRt5yUi3oPa1sDf9g")\n';
  const isNew = (value: string) => newSecrets(openHolding(before), `${before}token = "${value}"\n`).length === 1;
  for (const part of ["a1b2c3d4e5f6a7&api_key=Z", "Zx9kQ2mR7tLp", "Qw7eRt5yUi3o"]) expect(isNew(part)).toBe(true);
  for (const whole of ["a1b2c3d4e5f6a7&api_key=", "a1b2c3d4e5f6a7", "Zx9kQ2mR7tLp4VwA8sNd", "Qw7eRt5yUi3oPa1sDf9g"])
    expect(isNew(whole)).toBe(false);
});

test("where one kind of secret ends inside of another, the rest is masked as well", () => {
  const text = "authorization: api_key=Zx9kQ2mR7t!Lp4VwA8sNd5";
  expect(maskSecrets(text)).not.toMatch(/Lp4V|A8sN/);
});

test("property: masking twice is masking once, and lines keep their number", () => {
  const known = [...tokens.map(([, token]) => token), ...named, "\n", " ", '"', "-"];
  const piece = fc.oneof(fc.string(), fc.constantFrom(...known));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("\n");
      const masked = maskSecrets(text);
      expect(maskSecrets(masked)).toBe(masked);
      expect(masked.split("\n").length).toBe(text.split("\n").length);
    }),
  );
});

test("large and hostile texts take linear time", () => {
  const names = ["token: ", "token>", "token=", "Authorization: ", "sk-", "eyJ"];
  const texts = ["-----BEGIN PRIVATE KEY-----\n", "://a:", ...names, '"', "a1B2"];
  const maskAll = () => texts.map((text) => maskSecrets(text.repeat(Math.floor(300_000 / text.length))));
  expectCpu(4000, maskAll);
});

/** As they are given out: 800 characters, with a run of equal ones. */
const sessionToken = `IQoJb3JpZ2luX2VjEHoaCXVzLWVhc3Qt${fake(168)}//////////ARAA${fake(600)}`;

// F1
test.each([
  ["eleven characters", 'password = "S3cr3tP4ssX"', "S3cr3tP4ssX"],
  ["words and digits in a URL", "DATABASE_URL=postgres://u:hunter2hunter2@db/x", "hunter2hunter2"],
  ["a password in a URL with @ in it", "mongodb://u:Xx9kQ2@mR7t@Lp4Vw@db/x", "mR7t@Lp4Vw"],
  ["the same with little before it", "mongodb://u:X@mR7tLp4Vw@db/x", "X@mR7tLp4Vw"],
  ["a name and a value on two lines", `- name: DB_PASSWORD\n  value: ${value}\n`, value],
  ["a name and a value as JSON", `{"name": "API_TOKEN", "value": "${value}"}`, value],
  ["the content of an element", `<server>\n  <password>${value}</password>\n</server>`, value],
  ["the content of an element with a name", `<string name="db_password">\n  ${value}\n</string>`, value],
  ["the value on the line below", `password:\n  "${value}"`, value],
  ["a session token of a cloud", `aws_session_token = ${sessionToken}`, sessionToken],
  ["the same in JSON", JSON.stringify({ SessionToken: sessionToken }), sessionToken],
])("masks %s", (_name, text, secret) => {
  expect(maskSecrets(text)).not.toContain(secret.slice(4));
});

test.each([
  '<label for="password">Password</label>',
  "<input type='password'><b>firstLine2AndSecondLine3</b>",
  "const all = new Map<string, Token>(secretKey2Entries4);",
  `<password>\${env.DB_PASSWORD_4}</password>`,
])("markup and types with such names are left: %s", (text) => expect(findSecrets(text)).toEqual([]));

test("a password in a URL ends before its host, whatever follows", () => {
  for (const rest of ["", "/x?to=a@b.test", ":5432,a@b.test", " a@b.test", "?to=a@b.test", "\\na@b.test"])
    expect(maskSecrets(`postgres://u:${value}@db${rest}`)).toBe(`postgres://u:${value.slice(0, 4)}…[masked]@db${rest}`);
});

test.each([
  "postgres://postgres:postgres@localhost/x",
  "redis://default:password@cache:6379",
  `https://me:\${TOKEN_1}@x.test`,
])("what is not a secret in a URL is left: %s", (text) => expect(findSecrets(text)).toEqual([]));

test.each(["password=", 'password=a"a"a'])("a line that is one %s after the other is searched quickly", (name) => {
  const text = name.repeat(50_000);
  expectCpu(1000, () => maskSecrets(text, "plain"));
  expect(maskSecrets(`${text} password=${value}`, "plain")).not.toContain(value.slice(4));
});
