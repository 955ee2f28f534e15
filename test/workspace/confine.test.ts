/** Hostile layouts with real links, pipes and swaps; each also shows that a naive program falls for it here. */
import { describe, expect, test } from "bun:test";
import { readFileSync, realpathSync, renameSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRoot } from "../../src/workspace/confine.ts";
import { canary, openFolder, p, refusalOf } from "./folder.ts";

const limit = 8 * 1024 * 1024;
const naive = (root: string, path: string) => readFileSync(join(root, path), "utf8");
const textOf = (file: { bytes: Uint8Array } | null) => file && Buffer.from(file.bytes).toString();

describe("opens what is there", () => {
  test("a file, a folder, the root, and nothing", () => {
    using at = openFolder();
    at.file("a/b/f", "hello");
    expect(textOf(at.root.readBytes(p("a/b/f"), limit))).toBe("hello");
    expect(at.root.stat(p("a/b/f"))).toMatchObject({ kind: "file", size: 5, nlink: 1, target: null });
    expect(at.root.stat(p("a/b"))?.kind).toBe("folder");
    expect(at.root.stat(p(""))?.kind).toBe("folder");
    expect(at.root.stat(p("a/x"))).toBeNull();
    expect(at.root.stat(p("x/y/z"))).toBeNull();
    expect(at.root.readBytes(p("x/y"), limit)).toBeNull();
    expect(at.root.withParent(p("x/y"), () => "used")).toBeNull();
    expect(at.root.withFolder(p("x"), () => "used")).toBeNull();
    expect(at.root.path).toBe(realpathSync(at.path));
  });

  test("an empty file, and one of exactly the limit, but none larger", () => {
    using at = openFolder();
    at.file("empty");
    at.file("full", "x".repeat(100));
    expect(at.root.readBytes(p("empty"), 100)?.bytes.length).toBe(0);
    expect(at.root.readBytes(p("full"), 100)?.bytes.length).toBe(100);
    expect(refusalOf(() => at.root.readBytes(p("full"), 99)).code).toBe("file_unusable");
  });

  test("no file as a folder", () => {
    using at = openFolder();
    at.file("f");
    const { code, message } = refusalOf(() => at.root.stat(p("f/x")));
    expect([code, message]).toEqual(["file_unusable", "f is not a folder"]);
    expect(refusalOf(() => at.root.readBytes(p("f/x/y"), limit)).code).toBe("file_unusable");
    at.folder("d");
    expect(refusalOf(() => at.root.readBytes(p("d"), limit)).message).toBe("d is a folder");
  });
});

describe("follows no link", () => {
  test.each([
    ["out", "../secret", "out"],
    ["d", "../dir", "d/f"],
    ["notes", ".env", "notes"],
    ["m", "/proc/self/root", "m/proc/self/status"],
    ["m", "/proc/self/cwd", "m/package.json"],
    ["inner", "real", "inner/f"],
    [".pai_history", "../dir", ".pai_history/f"],
  ])("%s -> %s", (name, target, path) => {
    using at = openFolder();
    at.file(".env", canary);
    at.file("real/f", canary);
    at.link(name, target);
    expect(naive(at.path, path).length).toBeGreaterThan(0);
    const error = refusalOf(() => at.root.readBytes(p(path), limit));
    expect([error.code, error.message]).toEqual([
      "path_refused",
      `${name} is a link to ${target}; links are not followed`,
    ]);
  });

  test("nor calls anything behind one", () => {
    using at = openFolder();
    at.link("d", "../dir");
    let used = false;
    const use = () => {
      used = true;
    };
    expect(refusalOf(() => at.root.withParent(p("d/new"), use)).code).toBe("path_refused");
    expect(refusalOf(() => at.root.withFolder(p("d"), use)).code).toBe("path_refused");
    expect(used).toBe(false);
  });

  test("but says what a link is and where it points, also a dangling one and a loop", () => {
    using at = openFolder();
    at.link("x", "/nowhere/authorized_keys");
    at.link("a", "b");
    at.link("b", "a");
    expect(at.root.stat(p("x"))).toMatchObject({ kind: "link", target: "/nowhere/authorized_keys" });
    expect(refusalOf(() => at.root.readBytes(p("x"), limit)).message).toContain("/nowhere/authorized_keys");
    expect(refusalOf(() => at.root.stat(p("a/c"))).message).toContain("a is a link to b");
  });

  test("escapes what the target of a link would do to a terminal", () => {
    using at = openFolder();
    at.link("x", "\x1b[2J");
    expect(refusalOf(() => at.root.readBytes(p("x"), limit)).message).toContain("a link to \\u{1b}[2J;");
  });
});

describe("loses no race", () => {
  test("a folder swapped for a link after it was opened does not lead out", () => {
    using at = openFolder();
    at.file("d/f", "inside");
    const swap = () => {
      renameSync(join(at.path, "d"), join(at.path, "kept"));
      symlinkSync("../dir", join(at.path, "d"));
    };
    const seen = at.root.withParent(p("d/f"), (open, name) => {
      swap();
      return [readFileSync(`${open}/${name}`, "utf8"), naive(at.path, "d/f")];
    });
    expect(seen).toEqual(["inside", canary]);
    expect(refusalOf(() => at.root.readBytes(p("d/f"), limit)).code).toBe("path_refused");
  });

  test("a root that was renamed and replaced is still the pinned one", () => {
    using at = openFolder();
    at.file("f", "inside");
    renameSync(at.path, join(at.outside, "moved"));
    symlinkSync("dir", at.path);
    expect(naive(at.path, "f")).toBe(canary);
    expect(textOf(at.root.readBytes(p("f"), limit))).toBe("inside");
  });
});

describe("answers at once for what is not a regular file", () => {
  test("a pipe, which stops a naive reader for good", () => {
    using at = openFolder();
    at.pipe("p");
    expect(Bun.spawnSync(["timeout", "0.1", "cat", join(at.path, "p")]).exitCode).toBe(124);
    const error = refusalOf(() => at.root.readBytes(p("p"), limit));
    expect([error.code, error.message]).toEqual(["file_unusable", "p is a pipe, socket or device, not a regular file"]);
    expect(at.root.stat(p("p"))?.kind).toBe("special");
  });

  test("a sparse file of a terabyte, without reading it", () => {
    using at = openFolder();
    at.file("big");
    truncateSync(join(at.path, "big"), 2 ** 40);
    expect(refusalOf(() => at.root.readBytes(p("big"), limit)).message).toBe("big is larger than 8 MiB");
  });
});

describe("a root", () => {
  const open = (path: string, home: string | null = null, force = false) => openRoot(path, { force, home });

  test("is reached through a link once, and shown by its real path", () => {
    using at = openFolder();
    at.file("f", "inside");
    symlinkSync("proj", join(at.outside, "entry"));
    const root = open(join(at.outside, "entry"));
    renameSync(join(at.outside, "entry"), join(at.outside, "gone"));
    symlinkSync("dir", join(at.outside, "entry"));
    expect(root.path).toBe(realpathSync(at.path));
    expect(textOf(root.readBytes(p("f"), limit))).toBe("inside");
    root.close();
  });

  test("is not /, a folder of the system, the home, whatever link leads there, unless forced", () => {
    using at = openFolder();
    symlinkSync("/etc", join(at.outside, "e"));
    symlinkSync("proj", join(at.outside, "home"));
    for (const path of ["/", "/etc", "/proc/self", join(at.outside, "e")]) {
      const error = refusalOf(() => open(path));
      expect(error.code).toBe("root_refused");
      expect(error.hint).toContain("--force-root");
    }
    expect(refusalOf(() => open(at.path, join(at.outside, "home"))).message).toContain("is the home folder");
    open(at.path, at.path, true).close();
  });

  test("is a folder that is there", () => {
    using at = openFolder();
    writeFileSync(join(at.outside, "file"), "");
    expect(refusalOf(() => open(join(at.outside, "file"))).message).toContain("cannot be opened as a folder");
    expect(refusalOf(() => open(join(at.outside, "none"), null, true)).message).toContain("does not exist");
  });
});
