/** What counts as a top-level definition in each language. */
import { expect, test } from "bun:test";
import { findDefinitions } from "../../../src/core/guard/guard.ts";

const samples: readonly (readonly [path: string, text: string, names: readonly string[]])[] = [
  [
    "a.ts",
    "export async function a() {}\nexport default class B {}\ninterface C {}\nexport type D = 1;\nconst e = () => 1;\nconst f = 5;\nexport const g = 5;\nconst fs = require('fs');\nmodule.exports.h = 1;\n  function inner() {}\nconst i: X = async (a) => a;\n",
    ["a", "B", "C", "D", "e", "h", "i"],
  ],
  ["a.py", "async def a():\nclass B(object):\n  def inner(self):\nx = 1\n", ["a", "B"]],
  ["a.go", "func a() {\nfunc (s *T) B(x int) {\ntype C struct {\nvar d = 1\n", ["a", "B", "C"]],
  ["a.rs", "pub(crate) async fn a() {\npub struct B;\nimpl B {\n    fn inner() {}\nenum C {}\n", ["a", "B", "C"]],
  ["A.java", "public final class A {\n    private static int b(int x) {\n        call(x);\n    }\n}\n", ["A"]],
  ["a.c", "static int a(int x)\n{\nint b(void);\nstruct c {\nchar *d(int s) {\n  return f();\n", ["a", "b", "c", "d"]],
  ["a.rb", "class A\n  def b?\n  end\nend\ndef self.c\n", ["A", "c"]],
  ["a.php", "<?php\nfunction a() {}\nclass B {\n    public function c() {}\n}\n", ["a", "B"]],
  ["a.sh", "a() {\nfunction b {\n  c\n}\n", ["a", "b"]],
  ["a.txt", "function a() {}\n", []],
];
test.each(samples)("knows what %s defines", (path, text, names) => {
  expect([...findDefinitions(path, text)]).toEqual([...names]);
});
