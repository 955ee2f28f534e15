/** What is read of JSON in any wrapping, cut ones never; the acknowledgment streams however the chunks fall. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { complexity, createReplyReader, lenientText, readJson } from "../../src/core/json.ts";

const planText = '{"intent":"task","reply":"ok"}';

test("property: what JSON.stringify writes is read back, in any wrapping", () => {
  const wrapping = fc.constantFrom("", "text\n", "```json\n", "<think>{</think>", "\uFEFF");
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), wrapping, fc.constantFrom(0, 2), (value, wrap, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(readJson(`${wrap}${text}\nend`)).toEqual({ ok: true, value: JSON.parse(text) });
    }),
  );
});

test("property: a reply cut anywhere is never read", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, seed) => {
      const text = JSON.stringify(value);
      expect(readJson(text.slice(0, seed % text.length)).ok).toBe(false);
    }),
  );
});

test("reads megabytes, and deep nesting, without falling over", () => {
  const long = JSON.stringify({ a: 'x"\\\n'.repeat(300_000) });
  expect(readJson(long).ok).toBe(true);
  expect(readJson('{"a":'.repeat(50_000)).ok).toBe(false);
});

function readInChunks(chunks: readonly string[]) {
  const reader = createReplyReader();
  const shown = chunks.map((chunk) => reader.push(chunk)).join("");
  return { shown, complete: reader.isComplete() };
}

test("shows the reply as it grows", () => {
  const reader = createReplyReader();
  expect(reader.push('```json\n{"intent": "conver')).toBe("");
  expect(reader.push('sation", "reply": "Ha')).toBe("Ha");
  expect(reader.push("lo\\")).toBe("lo");
  expect(reader.push("nd")).toBe("\nd");
  expect(reader.isComplete()).toBe(false);
  expect(reader.push('unia", "x": [{"reply": "no"}]')).toBe("unia");
  expect(reader.isComplete()).toBe(true);
  expect(reader.push("}\n```")).toBe("");
});

test("shows nothing of a plan that begins in another way, nor of reasoning", () => {
  const other = { shown: "", complete: false };
  expect(readInChunks([...'{"reply":"hi","intent":"task"}'])).toEqual(other);
  expect(readInChunks([...'{"a":{"intent":"x","reply":"no"},"intent":"task","reply":"yes"}'])).toEqual(other);
  expect(readInChunks([...'{"intent":null,"reply":"no"}'])).toEqual(other);
  expect(readInChunks([...`{"a":"${"x".repeat(5000)}`, planText])).toEqual(other);
  expect(readInChunks([...`<think>{"intent":"t","reply":"no"}</think> Here: ${planText}`]).shown).toBe("ok");
});

test("never shows half of a surrogate pair", () => {
  const reader = createReplyReader();
  expect(reader.push('{"intent":"t","reply":"a\\ud83c')).toBe("a");
  expect(reader.push("\\udf")).toBe("");
  expect(reader.push("89b")).toBe("🎉b");
  expect(reader.push("🎉".charAt(0))).toBe("");
  expect(reader.push("🎉".charAt(1))).toBe("🎉");
});

test("property: any chunking shows exactly the reply, nothing shown is taken back", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string(), fc.constant('\\"\n\ud83d'));
  fc.assert(
    fc.property(text, fc.jsonValue(), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (reply, other, sizes) => {
      const json = JSON.stringify({ intent: "task", reply, last: other });
      const reader = createReplyReader();
      let shown = "";
      for (let at = 0; at < json.length; ) {
        const size = sizes.next().value ?? 1;
        shown += reader.push(json.slice(at, at + size));
        expect(reply.startsWith(shown)).toBe(true);
        at += size;
      }
      expect(reader.isComplete()).toBe(true);
      expect(shown).toBe(reply);
    }),
  );
});

test("one complexity among other words counts; two or none are moderate", () => {
  const read = (word: unknown) => complexity.plain(word);
  expect(["Complex", "very complex", "complex (a third look)"].map(read)).toEqual(Array(3).fill("complex"));
  expect(read("simple.")).toBe("simple");
  expect(["simple to complex", "high", "", null, 3].map(read)).toEqual(Array(5).fill("moderate"));
});

test("words in lists and objects are words; what is wrapped without end says nothing", () => {
  const given = ["a", ["a", "b"], { file: "a", fix: ["b", 3] }, null, 4];
  expect(given.map((value) => lenientText.plain(value))).toEqual(["a", "a, b", "a: b, 3", "", "4"]);
  expect(lenientText.plain(JSON.parse(`${'{"a":'.repeat(20_000)}"x"${"}".repeat(20_000)}`))).toBe("");
});
