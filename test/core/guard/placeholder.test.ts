/** Omission placeholders are found in every spelling, and nothing legitimate is taken for one. */
import { describe, expect, test } from "bun:test";
import { findPlaceholders } from "../../../src/core/guard/placeholder.ts";
import { expectCpu } from "../cpu-time.ts";

const placeholders = [
  "// ... existing code ...",
  "//...existing code...",
  "// … existing code …",
  "    // ... rest of the code ...",
  "# rest of the code unchanged",
  "# rest of the code remains the same",
  "/* ... rest of methods ... */",
  "<!-- ... -->",
  "<!-- rest of the HTML unchanged -->",
  "-- rest unchanged",
  "-- ... remaining code ...",
  "; ... rest of the code ...",
  "% ... existing code ...",
  "(* ... rest of the implementation ... *)",
  "{- ... rest of the module ... -}",
  "{/* ... existing code ... */}",
  '""" ... rest of the class ... """',
  "' ... existing code ...",
  "REM ... rest of the script ...",
  "// rest of code",
  "// rest of the file stays the same",
  "// keep the rest of the code as is",
  "// ... other methods remain unchanged",
  "// ... other imports ...",
  "// (rest of the implementation)",
  "// [existing code remains here]",
  "// remaining code omitted for brevity",
  "# code omitted for brevity",
  "// existing code here",
  "# ... previous code ...",
  "// The rest of the function remains unchanged.",
  "// everything else stays the same",
  "// --- snip ---",
  "# [...]",
  "...",
  "…",
  "... existing code ...",
  "(rest of methods ...)",
  "// ... rest of UserService methods ...",
  "function load() { /* ... existing code ... */ }",
  "def load(): # ... rest of the function ...",
  "// kode lainnya tetap sama",
  "# ... kode yang sudah ada ...",
  "# sisa kode tidak berubah",
  "// ... sisanya tetap sama ...",
];

const legitimate = [
  "const all = [...first, ...rest];",
  "  ...args,",
  "  ...rest",
  "function join(...rest: string[]) {",
  "const { a, ...other } = props;",
  "call(...existing, code);",
  "match x { 1..=3 => a, .. => b }",
  "for i in 1...5 {",
  "void log(const char *format, ...);",
  "func Sum(values ...int) int {",
  "def f(x: Tuple[int, ...]) -> int: ...",
  'console.log("Loading existing code...");',
  'logger.info("... rest of the code ...")',
  "const msg = '(rest of methods ...)';",
  'print("Processing the remaining files...")',
  "// Rest parameters are collected into an array",
  "// rest parameters",
  "// handle the rest of the function later",
  "// parse the rest of the file",
  "// Skip the rest of the line",
  "# Loading other modules...",
  "# Wait for the remaining requests...",
  "// wait...",
  "// Otherwise ... well, give up",
  "// ...and then the handler is called with the request",
  "# Existing users keep their sessions",
  "// existing code paths call this with null",
  "// Same logic as above, but for files",
  "# The remaining time in seconds",
  "And so on, the rest of the code is described in chapter 3...",
  "The rest of the code is unchanged.",
  "* the rest of the API is unchanged",
  "- Other methods remain the same",
  "See https://example.com/docs/... for the rest",
  "// your code here",
  "/* other styles */",
  "// unchanged",
  "#!/usr/bin/env bash",
  "#include <rest.h>",
  "# No changes",
  "i--; // rest of the loop counter",
  "SELECT rest FROM code -- same table as before",
  "// the original file name, or null",
  "// Sisa saldo pengguna",
  "// fungsi ini sama dengan yang lain di modul pajak",
  "[...]string{",
  "(...)",
];

describe("findPlaceholders", () => {
  for (const text of placeholders) {
    test(`finds: ${text.trim()}`, () => {
      expect(findPlaceholders(`first\n${text}\nlast`)).toEqual([{ line: 2, text: text.trim() }]);
    });
  }

  for (const text of legitimate) {
    test(`leaves alone: ${text}`, () => expect(findPlaceholders(`first\n${text}\nlast`)).toEqual([]));
  }

  test("`...` is code as a Python body, not at the level of its header", () => {
    expect(findPlaceholders("def a(self) -> int:\n    ...\n")).toEqual([]);
    expect(findPlaceholders("class A:  # abstract\n\n    ...\n")).toEqual([]);
    expect(findPlaceholders('def a():\n    """Says a."""\n    ...\n')).toEqual([]);
    expect(findPlaceholders("def a():\n...\n    b()\n")).toEqual([{ line: 2, text: "..." }]);
  });

  test("counts lines whatever ends them", () => {
    expect(findPlaceholders("a\r\nb\rc\n// ...\n")).toEqual([{ line: 4, text: "// ..." }]);
  });

  test("a megabyte in one line or in many takes no time", () => {
    const search = () => {
      findPlaceholders("... rest of the code ".repeat(50_000));
      findPlaceholders("x // rest rest rest rest rest\n".repeat(30_000));
    };
    expectCpu(500, search);
  });
});

test("dots in documentation are not an omission: Python strings, Perl's pages, examples in comments, text documents", () => {
  for (const text of [
    'def f():\n    """Loops.\n\n    >>> for x in y:\n    ...\n    """\n    return 1\n',
    "=head1 USE\n\n  use Memoize;\n  ...\n\n=cut\n\nsub f { 1 }\n",
    "# Called like this:\n#     begin()\n#     ...\n",
    "#..........................................................................\n",
    "# the remaining functions\n",
  ]) {
    expect(findPlaceholders(text)).toEqual([]);
  }
  expect(findPlaceholders("```\na();\n...\n```\n", "README.md")).toEqual([]);
  expect(findPlaceholders("# ... rest of the code unchanged ...\n", "notes.md")).toHaveLength(1);
  expect(findPlaceholders('"""Adds."""\na = 1\n...\n')).toHaveLength(1);
});
