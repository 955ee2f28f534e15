/** What counts as a path (S1 to S13): one spelling per file, nothing expanded, nothing decoded. */
import { describe, expect, test } from "bun:test";
import { PaiError } from "../../src/core/error.ts";
import { parsePath } from "../../src/workspace/parse-path.ts";

const refusal = (text: string, root: string | null = "/w/proj"): PaiError | null => {
  try {
    parsePath(text, root);
    return null;
  } catch (thrown) {
    if (thrown instanceof PaiError) return thrown;
    throw thrown;
  }
};

describe("refuses", () => {
  test.each([
    ["S1", "../x", 'leads upwards with ".."'],
    ["S1", "a/../../x", 'leads upwards with ".."'],
    ["S1", "./../x", 'leads upwards with ".."'],
    ["S1", "..", 'leads upwards with ".."'],
    ["S1", "a/..", 'leads upwards with ".."'],
    ["S2", "../proj-secrets/key", 'leads upwards with ".."'],
    ["S2", "/w/proj-secrets/key", "is absolute"],
    ["S3", "/etc/passwd", "is absolute"],
    ["S3", "//etc/passwd", "is absolute"],
    ["S3", "/w/proj/src/a.ts", "is absolute"],
    ["S4", `\${PWD}/..`, 'leads upwards with ".."'],
    ["S5", "ok\0.png", "control character"],
    ["S5", "\0", "control character"],
    ["S6", "a\nb", "control character"],
    ["S6", "a\rb", "control character"],
    ["S6", "a\tb", "control character"],
    ["S6", "a\x1b[31m", "control character"],
    ["S6", "a\x7f", "control character"],
    ["S6", "a\u0085", "control character"],
    ["S6", "a\u2028b", "control character"],
    ["S6", "a\u2029b", "control character"],
    ["S7", "a\ud800", "no well-formed text"],
    ["S8", "a".repeat(256), "more than 255 bytes"],
    ["S8", "é".repeat(255), "more than 255 bytes"],
    ["S8", "a/".repeat(5000), "more than 64 folders deep"],
    ["S8", `${"a".repeat(200)}/`.repeat(21), "longer than 4000 bytes"],
    ["S11", "a\\b", "has a backslash"],
    ["S11", "..\\x", "has a backslash"],
    ["S11", "C:\\x", "names a drive"],
    ["S11", "c:/x", "names a drive"],
    ["S11", "\\\\?\\x", "has a backslash"],
    ["S11", "file:///etc/passwd", "is an address"],
    ["S11", "https://x/y", "is an address"],
  ])("(%s) %j", (_case, text, why) => {
    const error = refusal(text);
    expect(error?.code).toBe("path_refused");
    expect(error?.message).toContain(why);
  });
});

describe("takes", () => {
  test.each([
    ["S4", "~/x", "~/x"],
    ["S4", "~root/x", "~root/x"],
    ["S4", "$HOME/x", "$HOME/x"],
    ["S11", "%2e%2e/x", "%2e%2e/x"],
    ["S11", "a:b", "a:b"],
    ["6.11", "a::b.txt", "a::b.txt"],
    ["S13", "-rf", "-rf"],
    ["S13", "*", "*"],
    ["S13", "$(id)", "$(id)"],
    ["S13", "`id`", "`id`"],
    ["S13", "a;b", "a;b"],
    ["S13", "a b", "a b"],
    ["S13", "...", "..."],
    ["S8", "a".repeat(255), "a".repeat(255)],
  ])("(%s) %j as it is", (_case, text, path) => {
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
  ])("(S9, S10) %j in its one spelling, a trailing slash meaning a folder", (text, path, folder) => {
    expect(parsePath(text)).toEqual({ path, folder } as never);
  });
});

test("tells the relative spelling of an absolute path inside the root (S3)", () => {
  expect(refusal("/w/proj/src/a.ts")?.hint).toBe('write it relative to the root: "src/a.ts"');
  expect(refusal("/w/proj")?.hint).toBe('write "." for the root');
  expect(refusal("/w/proj-secrets/key")?.hint).not.toContain("key");
});

test("shows control characters of a refused path escaped (S6)", () => {
  expect(refusal("a\x1b]0;x\x07\u202eb")?.message).toBe('"a\\u{1b}]0;x\\u{7}\\u{202e}b" has a control character in it');
});
