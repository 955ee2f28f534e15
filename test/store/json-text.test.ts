/** JSON as people write it: lines in complaints, comments that survive. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseJsonText, replaceJson } from "../../src/store/json-text.ts";

test("reads every JSON value as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseJsonText(text, "f").value).toEqual(JSON.parse(text));
    }),
    { numRuns: 200 },
  );
});

test("allows comments and trailing commas, and knows the line of each value", () => {
  const { value, lineOf } = parseJsonText('{\n // why\n "a": [1, 2,], /* b */\n "b": {"c": "//"},\n}\n', "f");
  expect(value).toEqual({ a: [1, 2], b: { c: "//" } });
  expect([lineOf(["a"]), lineOf(["b", "c"]), lineOf(["none"])]).toEqual([3, 4, 1]);
});

test.each([
  ['{\n"a": 1\n"b": 2}', "f, line 3: comma expected"],
  ['{"a":\n', "f, line 2: the file ends too early"],
  ["", "f, line 1: the file ends too early"],
  ['{"a": nul}', "f, line 1: invalid symbol"],
  ["{} x", "f, line 1: invalid symbol"],
  ["{} {}", "f, line 1: end of file expected"],
  ["{'a': 1}", "f, line 1: invalid symbol"],
  ['{"a": 0x10}', "f, line 1: "],
  ["{a: 1}", "f, line 1: invalid symbol"],
])("names file and line of %j and never its content (R43)", (text, message) => {
  expect(() => parseJsonText(text, "f")).toThrow(message);
});

test("refuses what is nested too deeply", () => {
  expect(() => parseJsonText("[".repeat(100_000), "f")).toThrow("f, line 1: nested too deeply");
});

test("a replaced or added value leaves comments and unknown names alone (R44)", () => {
  const text = '{\n  // mine\n  "x": 1,\n  "guard": { "lines": 3 } // keep\n}\n';
  const next = replaceJson(replaceJson(text, "f", ["guard", "ratio"], 0.2), "f", ["x"], 2);
  expect(parseJsonText(next, "f").value).toEqual({ x: 2, guard: { ratio: 0.2, lines: 3 } });
  expect(next).toContain("// mine");
  expect(next).toContain("// keep");
});

test("a value is added behind a trailing comma, and removed with its own", () => {
  for (const text of ['{"a": 1,}', '{"a": 1, // why\n}\n', '{\n  "a": 1,\n  "b": {"c": 2,},\n}\n', "// only\n{}"]) {
    const old = parseJsonText(text, "f").value as object;
    const next = replaceJson(text, "f", ["b", "d"], true);
    expect(parseJsonText(next, "f").value).toEqual({ ...old, b: { ...Reflect.get(old, "b"), d: true } });
    expect(parseJsonText(replaceJson(next, "f", ["b"], undefined), "f").value).toEqual(
      Object.fromEntries(Object.entries(old).filter(([name]) => name !== "b")),
    );
  }
});

test("a name on the way that holds no object is refused", () => {
  expect(() => replaceJson('{"guard": 3}', "f", ["guard", "ratio"], 0.2)).toThrow("f: guard is not an object");
});

test("adding to any object gives a text that reads back as meant", () => {
  const name = fc.constantFrom("a", "b", "c");
  const object = fc.dictionary(name, fc.oneof(fc.integer(), fc.dictionary(name, fc.boolean())));
  fc.assert(
    fc.property(object, fc.array(name, { minLength: 1, maxLength: 2 }), fc.constantFrom(0, 2), (old, path, indent) => {
      const [first = "", second] = path;
      fc.pre(second === undefined || typeof (old[first] ?? {}) === "object");
      const value = parseJsonText(replaceJson(JSON.stringify(old, null, indent), "f", path, "new"), "f").value;
      const inner = second === undefined ? "new" : { ...(old[first] as object), [second]: "new" };
      expect(value).toEqual({ ...old, [first]: inner });
    }),
    { numRuns: 200 },
  );
});
