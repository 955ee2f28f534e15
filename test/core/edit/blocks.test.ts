/** One SEARCH/REPLACE block: where it is found, what it leaves alone, what the model is told. */
import { describe, expect, test } from "bun:test";
import { applyEdits } from "../../../src/core/edit/apply-edits.ts";
import { edit, notes, refusalText } from "./edit-on-text.ts";

describe("one block", () => {
  test("an empty SEARCH creates, fills an empty file, or appends", () => {
    expect(edit(null, { search: "", replace: "a\r\nb" })).toBe("a\r\nb");
    expect(edit("", { search: "", replace: "a\n" })).toBe("a\n");
    expect(edit("\ufeff", { search: "", replace: "a\n" })).toBe("\ufeffa\n");
    expect(edit("a\r\nb", { search: "", replace: "c\nd\n" })).toBe("a\r\nb\r\nc\r\nd");
  });

  test("deleting everything leaves an empty file, deleting the last line keeps the final newline state", () => {
    expect(edit("a\nb\n", { search: "a\nb\n", replace: "" })).toBe("");
    expect(edit("a\nb", { search: "b\n", replace: "" })).toBe("a");
    expect(edit("a\nb\n", { search: "b\n", replace: "" })).toBe("a\n");
    expect(edit("a\nb", { search: "b\n", replace: "b\nc\n" })).toBe("a\nb\nc");
  });

  test("trailing blanks of untouched lines and Markdown hard breaks stay", () => {
    expect(edit("one  \ntwo\t\nthree\n", { search: "one\ntwo\nthree\n", replace: "one\ntwo\nTHREE\n" })).toBe(
      "one  \ntwo\t\nTHREE\n",
    );
    expect(edit("one\ntwo\n", { search: "one\n", replace: "one  \n" })).toBe("one  \ntwo\n");
  });

  test("CR-only files and mixed endings: a new line ends as its neighbours do", () => {
    expect(edit("a\rb\rc\r", { search: "b\n", replace: "b\nx\n" })).toBe("a\rb\rx\rc\r");
    expect(edit("a\r\nb\nc\r\n", { search: "b\nc\n", replace: "b\nx\nc\n" })).toBe("a\r\nb\nx\nc\r\n");
    expect(edit("a\nb\rc\nd\n", { search: "c\n", replace: "x\nc\n" })).toBe("a\nb\rx\nc\nd\n");
  });

  test("lines that look like diff headers, language words and fences are content", () => {
    expect(edit("-- old comment\nselect 1\n", { search: "-- old comment\nselect 1\n", replace: "select 1\n" })).toBe(
      "select 1\n",
    );
    expect(edit("a\n", { search: "a\n", replace: "a\n++i;\n" })).toBe("a\n++i;\n");
    expect(edit(null, { search: "", replace: "go\nhome\n" })).toBe("go\nhome\n");
    expect(edit(null, { search: "", replace: "\tmake\n\n" })).toBe("\tmake\n\n");
    expect(edit("# T\n", { search: "", replace: "```sh\nnpm i\n```\n" })).toBe("# T\n```sh\nnpm i\n```\n");
    const fenced = { search: "```sh\nnpm i\n```\n", replace: "```sh\nbun i\n```\n" };
    expect(edit("npm i\n```sh\nnpm i\n```\n", fenced)).toBe("npm i\n```sh\nbun i\n```\n");
  });

  test("what changes nothing is never called applied", () => {
    expect(edit("a\n", { search: "a\n", replace: "a\n" })).toBe("identical in block 1");
    expect(edit("    go()\n", { search: "go()\n", replace: "    go()\n" })).toBe("already");
    expect(edit("import os\nimport sys\n", { search: "import os\n", replace: "import os\nimport sys\n" })).toBe(
      "already",
    );
    expect(edit("a\nlast line\n", { search: "", replace: "last line\n" })).toBe("already");
    expect(edit("a1\nlonger\nc3\n", { search: "a1\nold\nc3\n", replace: "a1\nlonger\nc3\n" })).toBe("already");
    expect(edit("head()\ntail()\n", { search: "head()\ngone()\ntail()\n", replace: "head()\ntail()\n" })).toBe(
      "already",
    );
  });

  test("a repeated row is a new row, and a missing line is not mistaken for done", () => {
    expect(edit("[0, 0],\n[0, 0],\nend\n", { search: "[0, 0],\nend\n", replace: "[0, 0],\n[0, 0],\nend\n" })).toBe(
      "[0, 0],\n[0, 0],\n[0, 0],\nend\n",
    );
    expect(edit("value = 1\nother = 3\n", { search: "value = 1\nother = 2\n", replace: "value = 1\n" })).toBe(
      "not_found in block 1",
    );
  });

  test("omission placeholders are refused unless SEARCH has them", () => {
    const search = "a()\nb()\n";
    expect(edit(search, { search, replace: "a()\n// ... existing code ...\n" })).toBe("placeholder in block 1");
    expect(edit(null, { search: "", replace: "a()\n# rest of the code unchanged\n" })).toBe("placeholder in block 1");
    expect(edit("// ...\nb()\n", { search: "// ...\nb()\n", replace: "// ...\nc()\n" })).toBe("// ...\nc()\n");
    expect(refusalText(search, { search, replace: "a()\n// ...\n" })).toContain('"// ..."');
  });

  test("a comment that means `the rest` in both halves is an elision, kept as the file has it", () => {
    const block = {
      search: "one()\n// ... existing code ...\nsix()\n",
      replace: "ONE()\n// ... existing code ...\nsix()\n",
    };
    expect(edit("one()\ntwo()\nsix()\n", block)).toBe("ONE()\ntwo()\nsix()\n");
    expect(edit("six()\none()\ntwo()\n", block)).toBe("not_found in block 1");
    const file = "f() {\n  a()\n}\n\ng() {\n  if (b) {\n    c()\n  }\n}\n\nh() {\n}\n";
    const elided = { search: "g() {\n// ... existing code ...\n}\n", replace: "g(x) {\n// ... existing code ...\n}\n" };
    expect(edit(file, elided)).toBe(file.replace("g()", "g(x)"));
  });

  test("skipped blank lines survive, skipped code refuses", () => {
    const block = { search: "one();\ntwo();\nthree();\n", replace: "one();\nTWO();\nthree();\n" };
    expect(edit("one();\n\n\ntwo();\n\nthree();\n", block)).toBe("one();\n\n\nTWO();\n\nthree();\n");
    expect(edit("one();\nlog();\ntwo();\nthree();\n", block)).toBe("not_found in block 1");
  });

  test("the first line alone may have lost its indentation", () => {
    const file = "class A {\n    run() {\n        go();\n    }\n}\n";
    const search = "run() {\n        go();\n    }\n";
    expect(edit(file, { search, replace: "run() {\n        wait();\n        go();\n    }\n" })).toBe(
      "class A {\n    run() {\n        wait();\n        go();\n    }\n}\n",
    );
  });

  test("an indentation that says nothing about new lines is refused with the lines of the file", () => {
    const file = "if a:\n    if b:\n        go()\n    stop()\n";
    const flat = { search: "if a:\nif b:\ngo()\nstop()\n", replace: "if a:\nif b:\nwait()\ngo()\nstop()\n" };
    expect(edit(file, flat)).toBe("not_found in block 1");
    expect(refusalText(file, flat)).toContain("        go()\n    stop()");
  });

  test("tabs for spaces and 2 for 4 spaces are taken over for new lines too", () => {
    const tabs = "function a() {\n\tif (b) {\n\t\tc();\n\t}\n}\n";
    const block = {
      search: "  if (b) {\n    c();\n  }\n",
      replace: "  if (b) {\n    for (;;) {\n      c();\n    }\n  }\n",
    };
    expect(edit(tabs, block)).toBe("function a() {\n\tif (b) {\n\t\tfor (;;) {\n\t\t\tc();\n\t\t}\n\t}\n}\n");
    expect(edit(tabs.replaceAll("\t", "    "), block)).toBe(
      "function a() {\n    if (b) {\n        for (;;) {\n            c();\n        }\n    }\n}\n",
    );
  });

  test("copied line numbers are read as what they are", () => {
    expect(edit("a\nb\nc\n", { search: "2\tb\n3\tc\n", replace: "b\nC\n" })).toBe("a\nb\nC\n");
    expect(edit("a\nb\nc\n", { search: "2 | b\n9 | c\n", replace: "C\n" })).toBe("not_found in block 1");
  });

  test("lines put before or behind a SEARCH that is only part of a line do not tear it", () => {
    const lines = "total = add(a) + rest(a, b)\nadd(b) || fail(a, b, c)\n";
    const behind = { search: "add(b)\n", replace: "add(b)\ncheck(b)\n" };
    const before = { search: "add(a) + rest\n", replace: "check(a)\nadd(a) + rest\n" };
    for (const block of [behind, before]) expect(edit(lines, block)).toBe("not_found in block 1");
    expect(edit(lines, { search: "add(b)\n", replace: "check(b)\nadd(b)\n" })).toContain(
      "check(b)\nadd(b) || fail(a, b, c)\n",
    );
    expect(edit(lines, { search: "fail(a, b, c)\n", replace: "fail(a, b, c)\ndone()\n" })).toContain("c)\ndone()\n");
    expect(edit(lines, { search: "rest(a, b)\n", replace: "rest(\n  a,\n  b,\n)\n" })).toContain(
      "rest(\n  a,\n  b,\n)\n",
    );
  });

  test("SEARCH ALL takes every place, or none", () => {
    const all = true as const;
    expect(edit("  a()\nb()\n    a()\n", { search: "a()\n", replace: "c()\n", all })).toBe("  c()\nb()\n    c()\n");
    expect(edit("x\nif (x) x;\n", { search: "x\n", replace: "y\n", all })).toBe("y\nif (y) y;\n");
    expect(edit("x\n\nx\n\nx\n", { search: "x\n\nx\n", replace: "y\n", all })).toBe("ambiguous in block 1");
    expect(edit("x\ny\n", { search: "x\n", replace: "", all })).toBe("y\n");
  });

  test("two candidates are refused with their lines, never settled by a looser or a nearer one", () => {
    expect(edit("a\nb\na\nb\n", { search: "a\nb\n", replace: "c\n" })).toBe("ambiguous in block 1");
    expect(refusalText("go()\nx\n go()\n", { search: "  go()\n", replace: "  run()\n" })).toStartWith(
      "the text to replace occurs 2 times (lines 1, 3) ignoring indentation\nAdd neighbouring lines",
    );
  });

  test("missing, binary, and characters the file cannot hold are refused with the reason", () => {
    expect(edit(null, { search: "a\n", replace: "b\n" })).toBe("missing_file in block 1");
    expect(edit("a\0b\n", { search: "a\n", replace: "b\n" })).toBe("binary in block 1");
    const latin = Uint8Array.from([0x63, 0xe9, 0x0a, 0x61, 0x0a]);
    const result = applyEdits({ path: "l.txt", now: latin, shown: null, blocks: [{ search: "a\n", replace: "✅\n" }] });
    expect(result).toMatchObject({ kind: "refused", block: 1, reason: "encoding" });
    const fine = applyEdits({ path: "l.txt", now: latin, shown: null, blocks: [{ search: "a\n", replace: "é€\n" }] });
    expect(fine).toEqual({ kind: "applied", bytes: Uint8Array.from([0x63, 0xe9, 0x0a, 0xe9, 0x80, 0x0a]), notes: [] });
  });
});

describe("what a model is told", () => {
  test("the closest lines as they are, their position, and the first difference", () => {
    const file = "def f(x):\n    y = x\n    return x or 0\n\ndef g():\n    pass\n";
    const text = refusalText(file, { search: "def f(x):\n    y = x\n    return y\n", replace: "z\n" });
    expect(text).toBe(
      [
        "the text to replace is not in the file",
        "Closest lines now in the file (1-3):",
        "def f(x):",
        "    y = x",
        "    return x or 0",
        'First difference: your line 3 "    return y" / file "    return x or 0".',
        "Copy the lines exactly as they are in the file.",
      ].join("\n"),
    );
  });

  test("the first difference shown is one of words: indentation alone would have been forgiven", () => {
    const file = "class A:\n    def f(self, x):\n        if x < 0:\n            raise ValueError('positive')\n";
    const search = "def f(self, x):\n    if x < 0:\n        raise ValueError('> 0')\n";
    expect(refusalText(file, { search, replace: "pass\n" })).toContain(
      "First difference: your line 3 \"        raise ValueError('> 0')\"",
    );
  });

  test("a line that is only like one in the file is found by its letters, another file's is not", () => {
    const file = "a = load(1)\nresult = compute(alpha, beta)\n";
    expect(refusalText(file, { search: "result = compute(alpha, gamma)\n", replace: "z\n" })).toContain(
      "in the file (2)",
    );
    const tests = "class T:\n    def test_parse(self):\n        pass\n\n    def test_total(self):\n        pass\n";
    expect(refusalText(tests, { search: "    def test_totals(self):\n", replace: "z\n" })).toContain("in the file (5)");
    expect(refusalText(file, { search: "<html>\n<body>\n", replace: "z\n" })).toContain("nothing in it is like it");
  });

  test("a tolerated difference is noted, an exact match is not", () => {
    expect(notes("  a()\n", { search: "a()\n", replace: "b()\n" })).toEqual(["it fits ignoring indentation"]);
    expect(notes("a()\n", { search: "a()\n", replace: "b()\n" })).toEqual([]);
  });
});
