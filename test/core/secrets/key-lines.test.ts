/** Lines of a private key in the output of a command are hidden without the text that says what they are. */
import { expect, test } from "bun:test";
import { createVeil } from "../../../src/core/secrets/veil.ts";
import { expectCpu } from "../cpu-time.ts";

/** Base64 that looks like that of a key, made here so that no scanner takes this file for a leak. */
const base64 = Buffer.from(Array.from({ length: 900 }, (_, at) => Bun.hash(`${at}`) % 256n).map(Number))
  .toString("base64")
  .slice(0, 1150);
const wrap = (width: number) => base64.match(new RegExp(`.{1,${width}}`, "g")) ?? [];
const hide = (text: string) => createVeil({ part: "k3f9" }).hideOutput(text);
const sent = (lines: readonly string[], hidden: string) => lines.filter((line) => hidden.includes(line));

const listings: Readonly<Record<string, (line: string, at: number) => string>> = {
  bare: (line) => line,
  "with carriage returns": (line) => `${line}\r`,
  "indented, as in YAML": (line) => `    ${line}`,
  "with numbers (grep -n)": (line, at) => `${at + 1}:${line}`,
  "with a path and numbers": (line, at) => `state/k.dat:${at + 1}:${line}`,
  "after a match (grep -A)": (line, at) => `state/k-2.dat-${at + 1}-${line}`,
  "with numbers (cat -n)": (line, at) => `${`${at + 1}`.padStart(6)}\t${line}`,
  "added in a diff": (line) => `+${line}`,
  "removed in a diff": (line) => `-${line}`,
  "quoted in a mail": (line) => `> ${line}`,
};

for (const width of [64, 70, 76]) {
  test.each(Object.entries(listings))(`lines of ${width}, %s`, (_, list) => {
    const lines = wrap(width);
    const textOf = (shown: readonly string[]) => `first\n${shown.map(list).join("\n")}\nlast of it\n`;
    const hidden = hide(textOf(lines));
    expect(sent(lines, hidden)).toEqual([]);
    expect(hidden.replace(/<<SECRET_k3f9_\d+>>/g, "X")).toBe(textOf(lines.map(() => "X")));
  });
}

test("what was hidden comes back as it was", () => {
  const veil = createVeil({ part: "k3f9" });
  const text = wrap(70).join("\n");
  expect(veil.reveal(veil.hideOutput(text), () => true)).toEqual({ text, kept: [] });
});

test("the rest of a line before key lines, and one line alone", () => {
  const [first = "", second = "", third = ""] = wrap(64);
  expect(sent([first.slice(20)], hide(`${first.slice(20)}\n${second}\n${third}`))).toEqual([]);
  expect(sent([second], hide(second))).toEqual([]);
});

const digests = Array.from({ length: 3 }, (_, at) => new Bun.CryptoHasher("sha256").update(`${at}`).digest("hex"));
const ordinary: Readonly<Record<string, string>> = {
  "hex digests": digests.join("\n"),
  "hex digests in capitals": digests.join("\n").toUpperCase(),
  "sums of files": digests.map((digest, at) => `${digest}  file${at}.txt`).join("\n"),
  "digests with names": digests.map((digest) => `sha256:${digest}`).join("\n"),
  "a path of 64 characters": "src/main/java/com/example/billing2/InvoiceRepositoryFactoryBeans",
  "hashes of npm": `"integrity": "sha384-${base64.slice(0, 64)}",\n  integrity sha384-${base64.slice(0, 64)}`,
  "a rule of equal characters": `${"A".repeat(64)}\n${"/".repeat(70)}`,
  "a word of 64 letters": "a".repeat(32) + "B".repeat(32),
  "lines of other widths": wrap(60).join("\n"),
  "a long line": base64,
};
test.each(Object.entries(ordinary))("left as they are: %s", (_, text) => expect(hide(text)).toBe(text));

test("outputs of many lines take no longer than their length says", () => {
  for (const text of [
    "+".repeat(4_000_000),
    `${"=".repeat(64)}\n`.repeat(60_000),
    `${"A".repeat(64)}\n${"b".repeat(20)}\n`.repeat(40_000),
  ])
    expectCpu(1000, () => hide(text), text.slice(0, 65));
});
