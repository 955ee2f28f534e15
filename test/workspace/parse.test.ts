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

describe("refuses", () => {
  test.each([
    ["../x", 'leads upwards with ".."'],
    ["a/../../x", 'leads upwards with ".."'],
    ["./../x", 'leads upwards with ".."'],
    ["..", 'leads upwards with ".."'],
    ["a/..", 'leads upwards with ".."'],
    ["../proj-secrets/key", 'leads upwards with ".."'],
    ["/w/proj-secrets/key", "is absolute"],
    ["/etc/passwd", "is absolute"],
    ["//etc/passwd", "is absolute"],
    ["/w/proj/../x", 'leads upwards with ".."'],
    ["/w/proj//etc/passwd", "is absolute"],
    ["/w/pro", "is absolute"],
    [`\${PWD}/..`, 'leads upwards with ".."'],
    ["ok\0.png", "control character"],
    ["\0", "control character"],
    ["a\nb", "control character"],
    ["a\rb", "control character"],
    ["a\tb", "control character"],
    ["a\x1b[31m", "control character"],
    ["a\x7f", "control character"],
    ["a\u0085", "control character"],
    ["a\u2028b", "control character"],
    ["a\u2029b", "control character"],
    ["a\ud800", "not well-formed text"],
    ["a".repeat(256), "more than 255 bytes"],
    ["é".repeat(255), "more than 255 bytes"],
    ["a/".repeat(5000), "more than 64 folders deep"],
    [`${"a".repeat(200)}/`.repeat(21), "longer than 4000 bytes"],
    ["a\\b", "contains a backslash"],
    ["..\\x", "contains a backslash"],
    ["C:\\x", "names a drive"],
    ["c:/x", "names a drive"],
    ["\\\\?\\x", "contains a backslash"],
    ["file:///etc/passwd", "is an address"],
    ["https://x/y", "is an address"],
  ])("%j", (text, why) => {
    const error = refusal(text);
    expect(error?.code).toBe("path_refused");
    expect(error?.message).toContain(why);
  });
});

describe("takes", () => {
  test.each([
    ["~/x", "~/x"],
    ["~root/x", "~root/x"],
    ["$HOME/x", "$HOME/x"],
    ["%2e%2e/x", "%2e%2e/x"],
    ["a:b", "a:b"],
    ["a::b.txt", "a::b.txt"],
    ["-rf", "-rf"],
    ["*", "*"],
    ["$(id)", "$(id)"],
    ["`id`", "`id`"],
    ["a;b", "a;b"],
    ["a b", "a b"],
    ["...", "..."],
    ["a".repeat(255), "a".repeat(255)],
  ])("%j as it is", (text, path) => {
    expect(parsePath(text)).toEqual({ path, folder: false } as never);
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
