/** Secrets leave as names; a name is a secret again only where that is allowed. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createVeil } from "../../../src/core/secrets/veil.ts";
import { expectCpu } from "../cpu-time.ts";
import { keyLine as line } from "./key-line.ts";

const key = "AIzaSyA1234567890abcdefghijklmnopqrstu";
const yes = () => true;
const open = (options = {}) => createVeil({ part: "k3f9", ...options });
const pem = `-----BEGIN PRIVATE KEY-----\n${[1, 2, 3].map(line).join("\n")}\nAbCdEf12\n-----END PRIVATE KEY-----\n`;

test("a secret leaves as a name, the same one every time, and comes back as it was", () => {
  const veil = open();
  expect(veil.hideRaw(`KEY=${key}\nagain ${key}`)).toBe("KEY=<<SECRET_k3f9_1>>\nagain <<SECRET_k3f9_1>>");
  expect(veil.count).toBe(1);
  expect(veil.reveal("KEY=<<SECRET_k3f9_1>>", yes)).toEqual({ text: `KEY=${key}`, kept: [] });
});

// F1
test("a known secret is hidden without the text that gave it away, in every spelling", () => {
  const veil = open();
  veil.hideRaw(`db_password = "Zx9kQ2mR7tLp4VwA8sNd"`);
  const other = "note Zx9kQ2mR7tLp4VwA8sNd";
  expect(veil.hideRaw(other)).toBe("note <<SECRET_k3f9_1>>");
  expect(veil.hideRaw(Buffer.from(other).toString("base64"))).not.toContain("WngJ");
  const bytes = Buffer.from(other);
  for (const spelled of [bytes.toString("hex"), bytes.toString("base64"), encodeURIComponent(other)]) {
    const hidden = veil.hideRaw(spelled);
    expect(hidden).toContain("<<SECRET_k3f9_");
    expect(veil.reveal(hidden, yes).text).toBe(spelled);
  }
});

// F1
test("each line of a private key is hidden on its own, and lines stay lines", () => {
  const veil = open();
  const hidden = veil.hideRaw(pem);
  expect(hidden.split("\n").length).toBe(pem.split("\n").length);
  expect([veil.count, veil.reveal(hidden, yes).text]).toEqual([1, pem]);
  expect(veil.hideRaw(` 3 ${line(2)}\n`)).toBe(` 3 ${hidden.split("\n")[2]}\n`);
});

test("where it is not allowed a name stays, and is returned", () => {
  const veil = open();
  veil.hideRaw(`KEY=${key}`);
  const text = "KEY=<<SECRET_k3f9_1>> and <<SECRET_k3f9_9>> and <<SECRET_aaaa_1>>";
  expect(veil.reveal(text, () => false)).toEqual({ text, kept: ["<<SECRET_k3f9_1>>", "<<SECRET_k3f9_9>>"] });
});

// F11
test("text of a file is never a name: another part is drawn, or it is hidden itself", () => {
  const drawn = createVeil();
  const { part } = drawn;
  const like = `see <<SECRET_${part}_1>>`;
  expect(drawn.hideRaw(like)).toBe(`see <<SECRET_${drawn.part}_1>>`);
  expect(drawn.part).not.toBe(part);
  expect(drawn.reveal(like, () => false).text).toBe(like);
  const veil = open();
  const first = veil.hideRaw(`KEY=${key}`).slice(4);
  const hidden = veil.hideRaw(`see ${first}`);
  expect(hidden).not.toContain(first);
  expect(veil.reveal(hidden, yes).text).toBe(`see ${first}`);
});

test("numbers of earlier runs of the session are given to nothing else", () => {
  const veil = open({ last: 4 });
  expect(veil.hide(`<<SECRET_k3f9_2>> KEY=${key}`)).toBe("<<SECRET_k3f9_2>> KEY=<<SECRET_k3f9_5>>");
  expect(veil.reveal("<<SECRET_k3f9_2>>", yes).kept).toEqual(["<<SECRET_k3f9_2>>"]);
});

test("a name has at most six digits, whatever number a text claims", () => {
  const veil = open();
  expect(veil.hide("<<SECRET_k3f9_999999>>")).toBe("<<SECRET_k3f9_999999>>");
  const hidden = veil.hideRaw(`KEY=${key}`);
  expect(hidden).toMatch(/^KEY=<<SECRET_(?!k3f9)[a-z0-9]{4}_1>>$/);
  expect(veil.hide("again <<SECRET_k3f9_999999>>")).toContain("k3f9");
  expect(veil.hideRaw(`KEY=${key}`)).toBe(hidden);
  expect(veil.reveal(hidden, yes)).toEqual({ text: `KEY=${key}`, kept: [] });
});

test("a made-up secret that ends inside of a real one, or in front of it, uncovers nothing", () => {
  const file = "https://x.org/?id=a1b2c3d4e5f6a7&api_key=Zx9kQ2mR7tLp4VwA8sNd\n";
  for (const begun of ["", "Z", "Zx9kQ2mR"]) {
    for (const readBefore of [false, true]) {
      const veil = open();
      if (readBefore) veil.hideRaw(file);
      veil.hide(`token = "a1b2c3d4e5f6a7&api_key=${begun}"`);
      const hidden = veil.hideRaw(file);
      expect(hidden).not.toMatch(/Zx9|kQ2|tLp|sNd/);
      expect(veil.reveal(hidden, yes).text).toBe(file);
    }
  }
});

test("a password of a few characters is hidden at its place only, and searching for it again finds nothing new", () => {
  const veil = open();
  const file = "DB=postgres://svc:hunt3r@db/x\nCACHE=redis://svc:badger@c\n";
  const hidden = veil.hideRaw(file);
  expect(hidden).toBe("DB=postgres://svc:<<SECRET_k3f9_1>>@db/x\nCACHE=redis://svc:<<SECRET_k3f9_2>>@c\n");
  expect(veil.reveal(hidden, yes).text).toBe(file);
  const { version } = veil;
  expect([veil.hideRaw(file), veil.version]).toEqual([hidden, version]);
  expect(veil.hide("is hunt3r, not badgers")).toBe("is hunt3r, not badgers");
});

test("an ordinary word or number as password is hidden there, and left where it says something else", () => {
  for (const value of ["badger", "abc123", "12345678", "1234567890"]) {
    const veil = open();
    const file = `DB=postgres://svc:${value}@db/x\n`;
    expect(veil.hideRaw(file)).toBe("DB=postgres://svc:<<SECRET_k3f9_1>>@db/x\n");
    expect(veil.reveal(veil.hideRaw(file), yes).text).toBe(file);
    expect(veil.hideRaw(`id = ${value}9`)).toBe(`id = ${value}9`);
  }
});

test("a value that begins inside of another, or stands in it, is known by itself as well", () => {
  for (const [text, value] of [
    ["authorization: api_key=Zx9kQ2mR7t!Lp4VwA8sNd5", "Zx9kQ2mR7t!Lp4VwA8sNd5"],
    ["authorization: token=Qw7eRt5yUi3oPa1sDf9g", "Qw7eRt5yUi3oPa1sDf9g"],
  ] as const) {
    const veil = open();
    veil.hideRaw(text);
    expect(veil.hideRaw(`connect("${value}")`)).not.toContain(value);
  }
});

test("what is shown and written down covers what is known, in every text of it", () => {
  const veil = open();
  veil.hideRaw(`db_password = "Zx9kQ2mR7tLp4VwA8sNd"`);
  const event = { n: 1, deep: [{ text: "is Zx9kQ2mR7tLp4VwA8sNd" }], none: null };
  expect(veil.cover(event)).toEqual({ n: 1, deep: [{ text: "is <<SECRET_k3f9_1>>" }], none: null });
  expect(veil.pending("x Zx9kQ2m")).toBe(7);
});

test("text and bytes without a secret are the very same", () => {
  const text = "const a = 1;\n".repeat(50);
  const bytes = new TextEncoder().encode(text);
  expect(open().hideRaw(text)).toBe(text);
  expect(open().hideBytes(bytes)).toBe(bytes);
});

test("any bytes come back as they were", () => {
  const piece = fc.oneof(
    fc.constantFrom(`KEY=${key}\r\n`, pem, "<<SECRET_k3f9_1>>", "\ufeff", 'token: "S3cr3tP4ssX9"', line(7), "\n", "é"),
    fc.uint8Array({ maxLength: 8 }),
  );
  /** An odd number of bytes, and an even one once the key is hidden. */
  const claimed = [Uint8Array.of(254, 255, 0), Uint8Array.of(1), `KEY=${key}\r\n`, "<<SECRET_k3f9_1>>"];
  fc.assert(
    fc.property(fc.array(fc.array(piece, { maxLength: 6 }), { minLength: 1, maxLength: 3 }), (files) => {
      const veil = createVeil();
      for (const parts of files) {
        const bytes = new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part))));
        const hidden = veil.hideBytes(bytes);
        expect(Buffer.compare(veil.revealBytes(hidden, yes).bytes, bytes)).toBe(0);
      }
    }),
    { numRuns: 500, examples: [[[claimed]]] },
  );
});

test.each([
  ["big-endian", [0xfe, 0xff]],
  ["little-endian", [0xff, 0xfe]],
] as const)("what only claims to be UTF-16, %s, is hidden as it is read: as text of single bytes", (_, mark) => {
  for (const text of [`KEY=${key}\n`, `KEY=${key}`, `${line(7).repeat(200)}\0KEY=${key}\n`, `\0KEY=${key}\n`]) {
    const veil = open();
    const bytes = Buffer.concat([Buffer.from(mark), Buffer.from(text)]);
    const hidden = veil.hideBytes(bytes);
    expect(Buffer.from(hidden).includes(key)).toBe(false);
    expect(Buffer.compare(veil.revealBytes(hidden, yes).bytes, bytes)).toBe(0);
  }
});

test("a file of tens of thousands of made-up secrets is hidden in a moment, and each is known from then on", () => {
  // Six equal characters in a row are no secret.
  const values = Array.from({ length: 50_000 }, (_, at) => `Zx9qWk${at * 7919}Lm${at * 104_729}pQ`).filter(
    (value) => !/(.)\1{5}/.test(value),
  );
  const hideAll = () => {
    const veil = open();
    const hidden = veil.hideRaw(values.map((value) => `password = "${value}"\n`).join(""));
    expect([hidden.includes("Zx9q"), veil.count]).toEqual([false, values.length]);
    expect(veil.hideRaw(`note ${values[0]} and ${values.at(-1)}`)).toBe(
      `note <<SECRET_k3f9_1>> and <<SECRET_k3f9_${values.length}>>`,
    );
    expect(veil.hideRaw(btoa(`x ${values[0]}`))).toContain("<<SECRET_k3f9_");
  };
  expectCpu(4000, hideAll);
});

test("a value with escapes in it is known as what it stands for, too", () => {
  const veil = open();
  veil.hideRaw(String.raw`DB_PASSWORD="Gnu55&yak \"z\" w"`, "plain");
  expect(veil.hideRaw('connected with Gnu55&yak "z" w')).not.toContain("yak");
});
