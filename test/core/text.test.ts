/** Bytes and text: what is read comes back byte for byte, and lines keep their own endings. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cutLines, decode, encode, findForeign, mainEnding } from "../../src/core/text.ts";

const bytesOf = (...parts: (string | number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...new TextEncoder().encode(part)] : part)));
const backAgain = (bytes: Uint8Array) => {
  const decoded = decode(bytes);
  return decoded === null ? null : encode(decoded.text, decoded.encoding);
};

describe("decode and encode", () => {
  test("any bytes without NUL come back the same", () => {
    fc.assert(
      fc.property(fc.uint8Array({ min: 1, maxLength: 300 }), (bytes) => {
        const decoded = decode(bytes);
        if (decoded !== null) expect(encode(decoded.text, decoded.encoding)).toEqual(bytes);
      }),
    );
  });

  test("UTF-8 with and without a byte order mark, which is not part of the text", () => {
    expect(decode(bytesOf("naïve ✅"))).toEqual({ text: "naïve ✅", encoding: { name: "utf-8", bom: false } });
    const marked = bytesOf([0xef, 0xbb, 0xbf], "using System;\n");
    expect(decode(marked)).toEqual({ text: "using System;\n", encoding: { name: "utf-8", bom: true } });
    expect(backAgain(marked)).toEqual(marked);
    const twice = bytesOf([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], "x");
    expect(backAgain(twice)).toEqual(twice);
  });

  test("UTF-16 of either byte order by its mark, lone surrogates included", () => {
    const little = bytesOf([0xff, 0xfe, 0x41, 0x00, 0x0a, 0x00, 0x00, 0xd8]);
    expect(decode(little)?.text).toBe("A\n\ud800");
    expect(backAgain(little)).toEqual(little);
    const big = bytesOf([0xfe, 0xff, 0x00, 0x41, 0x20, 0x14]);
    expect(decode(big)).toEqual({ text: "A—", encoding: { name: "utf-16be", bom: true } });
    expect(backAgain(big)).toEqual(big);
    const long = new Uint8Array(40_002).fill(0x41).fill(0xff, 0, 1).fill(0xfe, 1, 2);
    expect(backAgain(long)).toEqual(long);
  });

  test("Latin-1, Windows-1252, Shift-JIS and GBK bytes are shown reversibly, never as U+FFFD", () => {
    const latin = bytesOf("caf", [0xe9], " = ", [0x80], "\n");
    expect(decode(latin)).toEqual({ text: "café = €\n", encoding: { name: "single-byte", bom: false } });
    expect(backAgain(latin)).toEqual(latin);
    const japanese = bytesOf([0x93, 0xfa, 0x96, 0x7b, 0x81, 0x8d], " x\n");
    expect(backAgain(japanese)).toEqual(japanese);
  });

  test("binary is null: NUL, UTF-32, an odd UTF-16", () => {
    for (const bytes of [bytesOf("a", [0], "b"), [0xff, 0xfe, 0, 0, 0x41, 0, 0, 0], [0xff, 0xfe, 0x41, 0, 0x42]])
      expect(decode(Uint8Array.from(bytes))).toBeNull();
  });

  test("the mark of UTF-16 without any NUL is text of single bytes, as every reader takes it", () => {
    const claimed = bytesOf([0xff, 0xfe], "KEY");
    expect(decode(claimed)).toEqual({ text: "ÿþKEY", encoding: { name: "single-byte", bom: false } });
    expect(backAgain(claimed)).toEqual(claimed);
  });

  test("an empty file is empty text", () => {
    expect(decode(new Uint8Array())).toEqual({ text: "", encoding: { name: "utf-8", bom: false } });
  });

  test("refuses a character the file cannot hold, naming it", () => {
    const single = { name: "single-byte", bom: false } as const;
    expect(encode("é €", single)).toEqual(bytesOf([0xe9, 0x20, 0x80]));
    expect(encode("a ✅", single)).toBeNull();
    expect(findForeign("a ✅", single)).toBe("✅");
    expect(findForeign("\u0080", single)).toBe("\u0080");
    expect(encode("\ud800", { name: "utf-8", bom: false })).toBeNull();
    expect(encode("a\0", { name: "utf-8", bom: false })).toBeNull();
  });
});

describe("cutLines", () => {
  test("every line keeps its own ending", () => {
    expect(cutLines("a\r\nb\nc\rd")).toEqual([
      { text: "a", ending: "\r\n" },
      { text: "b", ending: "\n" },
      { text: "c", ending: "\r" },
      { text: "d", ending: "" },
    ]);
    expect(cutLines("")).toEqual([]);
    expect(cutLines("\n")).toEqual([{ text: "", ending: "\n" }]);
  });

  test("an extra CR inside a line is content", () => {
    expect(cutLines("foo\r\r\nbar\r\n")).toEqual([
      { text: "foo\r", ending: "\r\n" },
      { text: "bar", ending: "\r\n" },
    ]);
  });

  test("joined again, lines are the text, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", " ", "\n", "\r", "\t") }), (text) => {
        const joined = cutLines(text).map((line) => line.text + line.ending);
        expect(joined.join("")).toBe(text);
      }),
    );
  });

  test("the main ending is the commonest", () => {
    expect(mainEnding(cutLines("a\r\nb\r\nc\n"))).toBe("\r\n");
    expect(mainEnding(cutLines("a\rb\r"))).toBe("\r");
    expect(mainEnding(cutLines("a"))).toBe("\n");
  });
});
