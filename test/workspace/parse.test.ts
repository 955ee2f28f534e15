/** What counts as a path: one spelling per file, nothing expanded, nothing decoded. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../src/core/error.ts";
import { parsePath } from "../../src/workspace/parse-path.ts";

const refusal = (text: string, roots: readonly string[] = ["/w/proj"]): PaiError | null => {
  try {
    parsePath(text, roots);
    return null;
  } catch (thrown) {
    if (thrown instanceof PaiError) return thrown;
    throw thrown;
  }
};

const refused: Readonly<Record<string, readonly string[]>> = {
  'leads upwards with ".."': [
    ...["../x", "a/../../x", "./../x", "..", "a/..", "../proj-secrets/key", "/w/proj/../x", `\${PWD}/..`],
  ],
  "is absolute": ["/w/proj-secrets/key", "/etc/passwd", "//etc/passwd", "/w/proj//etc/passwd", "/w/pro"],
  "control character": [
    ...["ok\0.png", "\0", "a\nb", "a\rb", "a\tb", "a\x1b[31m", "a\x7f", "a\u0085", "a\u2028b", "a\u2029b"],
  ],
  "not well-formed text": ["a\ud800"],
  "more than 255 bytes": ["a".repeat(256), "é".repeat(255)],
  "more than 64 folders deep": ["a/".repeat(5000)],
  "longer than 4000 bytes": [`${"a".repeat(200)}/`.repeat(21)],
  "contains a backslash": ["a\\b", "..\\x", "\\\\?\\x"],
  "names a drive": ["C:\\x", "c:/x"],
  "is an address": ["file:///etc/passwd", "https://x/y"],
};
const rows = Object.entries(refused).flatMap(([why, texts]) => texts.map((text) => [text, why] as const));
test.each(rows)("refuses %j", (text, why) => {
  expect(refusal(text)).toMatchObject({ code: "path_refused", message: expect.stringContaining(why) });
});

describe("takes", () => {
  const plain = "~/x ~root/x $HOME/x %2e%2e/x a:b a::b.txt -rf * $(id) `id` a;b ...".split(" ");
  test.each([...plain, "a b", "a".repeat(255)])("%j as it is", (path) => {
    expect(parsePath(path)).toEqual({ path, folder: false } as never);
  });

  test.each([
    ["./a//b", "a/b", false],
    ["a/./b", "a/b", false],
    ["", "", true],
    [".", "", true],
    ["./", "", true],
    ["f/", "f", true],
    ["f/.", "f", true],
    ["f//", "f", true],
  ])("%j in its one spelling, a trailing slash meaning a folder", (text, path, folder) => {
    expect(parsePath(text)).toEqual({ path, folder } as never);
  });
});

test("reads an absolute path below a spelling of the root as relative", () => {
  const roots = ["/w/proj", "/home/me/link"];
  for (const [text, path] of [
    ["/w/proj/src/a.ts", "src/a.ts"],
    ["/home/me/link/src/a.ts", "src/a.ts"],
    ["/w/proj", ""],
    ["/w/proj/", ""],
    ["/w/proj/src/", "src"],
  ] as const)
    expect(parsePath(text, roots)).toEqual({ path, folder: path === "" || text.endsWith("/") } as never);
  expect(parsePath("/a/b", ["/"]).path as string).toBe("a/b");
});

test("shows control characters of a refused path escaped", () => {
  expect(refusal("a\x1b]0;x\x07\u202eb")?.message).toBe('"a\\u{1b}]0;x\\u{7}\\u{202e}b" contains a control character');
});
