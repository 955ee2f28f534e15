/** Dirty replies are read, cut ones never; the acknowledgment streams however the chunks fall. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createReplyReader, readJson } from "../../src/core/json.ts";
import type { Json } from "../../src/core/model.ts";

const fence = "```";
const plan = { intent: "task", reply: "ok" };
const planText = '{"intent":"task","reply":"ok"}';

/** What models really send, and the value it must be read as. */
const readable: readonly (readonly [name: string, text: string, value: Json])[] = [
  ["bare", planText, plan],
  ["blank around", `\n\n  ${planText}\n `, plan],
  ["pretty", JSON.stringify(plan, null, 2), plan],
  ["carriage returns", '{\r\n"intent":"task",\r\n"reply":"ok"\r\n}\r\n', plan],
  ["byte order mark", `\uFEFF${planText}`, plan],
  ["fence with language", `${fence}json\n${planText}\n${fence}`, plan],
  ["fence without language", `${fence}\n${planText}\n${fence}`, plan],
  ["fence in capitals", `${fence}JSON\n${planText}\n${fence}\n`, plan],
  ["fence never closed", `${fence}json\n${planText}`, plan],
  ["fence with tildes", `~~~json\n${planText}\n~~~`, plan],
  ["fence on one line", `${fence}json ${planText} ${fence}`, plan],
  ["prose before", `Here is the plan:\n${planText}`, plan],
  ["prose after", `${planText}\nLet me know if this works!`, plan],
  ["prose and fence", `Sure!\n${fence}json\n${planText}\n${fence}\nDone.`, plan],
  ["prose with braces", `I use {name} and { x } here: ${planText}`, plan],
  ["prose with an apostrophe", `Here's what I'd do: ${planText}`, plan],
  ["prose with a quote", `As you said "go": ${planText} "fine"`, plan],
  ["code before", `function f() { return 1 }\n${planText}`, plan],
  ["think", `<think>maybe {"intent":"x"}?</think>${planText}`, plan],
  ["think with lines", `<think>\nhm { "\n</think>\n\n${fence}json\n${planText}\n${fence}`, plan],
  ["think without its opening tag", `hm {"a":1} no\n</think>\n${planText}`, plan],
  ["empty think", `<think></think>${planText}`, plan],
  ["think as text of a string", '{"reply":"<think>a</think> {b}"}', { reply: "<think>a</think> {b}" }],
  ["trailing comma in an object", '{"intent":"task","reply":"ok",}', plan],
  ["trailing comma in an array", '{"a":[1,2,],}', { a: [1, 2] }],
  ["trailing comma and blank", '{"a":[1 , \n ] ,\n}', { a: [1] }],
  ["trailing comma before a comment", '{"a":1, // last\n}', { a: 1 }],
  ["comma in a string", '{"a":",}","b":",]"}', { a: ",}", b: ",]" }],
  ["line comment", '{\n// why\n"a":1}', { a: 1 }],
  ["line comment after a value", '{"a":1, // one "two"\n"b":2}', { a: 1, b: 2 }],
  ["block comment", '{"a":/* {"x" */1}', { a: 1 }],
  ["comment marks in a string", '{"a":"http://x.y/*z*/"}', { a: "http://x.y/*z*/" }],
  ["braces in a string", '{"a":"} { ]"}', { a: "} { ]" }],
  ["escaped quotes", '{"a":"say \\"hi\\" \\\\"}', { a: 'say "hi" \\' }],
  ["escaped backslash last", '{"a":"c:\\\\"}', { a: "c:\\" }],
  ["line break in a string", '{"a":"one\ntwo"}', { a: "one\ntwo" }],
  ["tab in a string", '{"a":"one\ttwo"}', { a: "one\ttwo" }],
  ["CRLF in a string", '{"a":"one\r\ntwo"}', { a: "one\r\ntwo" }],
  ["fence in a string", `{"a":"${fence}js\\nx\\n${fence}"}`, { a: `${fence}js\nx\n${fence}` }],
  ["two objects, the first", `${planText}{"intent":"conversation"}`, plan],
  ["two objects on lines", `${planText}\n${planText}`, plan],
  ["junk after", `${planText}}}`, plan],
  ["array of one", `[${planText}]`, plan],
  ["array of one, pretty", `[\n  ${planText}\n]\n`, plan],
  ["array of one in a fence", `${fence}json\n[${planText},]\n${fence}`, plan],
  ["array never closed round a whole object", `[${planText}`, plan],
  ["object as text", JSON.stringify(planText), plan],
  ["single quotes", "{'a':'say \"hi\"','b':'it\\'s'}", { a: 'say "hi"', b: "it's" }],
  ["both quotes", `{"a":'1',"b":"it's"}`, { a: "1", b: "it's" }],
  ["hash comment", '{"a":1, # it\'s "one" }\n"b":"#2"}', { a: 1, b: "#2" }],
  ["no-break blanks between", '{\u00a0"a":\u200b1,\u2003"b":"\u00a0"}', { a: 1, b: "\u00a0" }],
  ["escaped once too often", 'Plan: {\\"a\\": \\"x\\\\ny\\"}', { a: "x\ny" }],
  ["in HTML", "{&quot;a&quot;: &quot;&amp;lt;&quot;}", { a: "&lt;" }],
  ["entities in a string", '{"a":"{&quot;"}', { a: "{&quot;" }],
  ["thoughts in other tags", `<thought>{"a":1}</thought>[THINK]{"b":1}[/THINK]${planText}`, plan],
  ["numbers as strings stay strings", '{"step_number":"3"}', { step_number: "3" }],
  ["numbers", '{"a":-1.5e3,"b":0}', { a: -1500, b: 0 }],
  ["null, true, false", '{"a":null,"b":true,"c":false}', { a: null, b: true, c: false }],
  ["empty", "{}", {}],
  ["nested", '{"a":{"b":[{"c":{}}]}}', { a: { b: [{ c: {} }] } }],
  ["unicode", '{"a":"halo dunia — 世界 🎉"}', { a: "halo dunia — 世界 🎉" }],
  ["unicode escapes", '{"a":"\\ud83c\\udf89\\u00e9"}', { a: "🎉é" }],
  ["wrong case of keys stays", '{"Intent":"task"}', { Intent: "task" }],
  ["keys twice, the last", '{"a":1,"a":2}', { a: 2 }],
  ["citation before", `[1] See below.\n${planText}`, plan],
  ["bold heading before", `**Plan**\n\n${planText}`, plan],
  ["XML wrapper", `<plan>${planText}</plan>`, plan],
  ["label before", `json\n${planText}`, plan],
  ["not JSON first, then JSON", `{"a": nope} is wrong, so: ${planText}`, plan],
  ["no-break blank and zero-width mark", `\u00a0\uFEFF\n${planText}`, plan],
];

for (const [name, text, value] of readable) {
  test(`reads a reply: ${name}`, () => {
    expect(readJson(text)).toEqual({ ok: true, value });
  });
}

/** Replies that must not be read as something. */
const unreadable: readonly (readonly [name: string, text: string, why: RegExp])[] = [
  ["nothing", "", /no JSON object/],
  ["prose", "I cannot do that.", /no JSON object/],
  ["prose in braces", "use {x}", /no JSON object/],
  ["a number", "42", /no JSON object/],
  ["a text", '"hello"', /no JSON object/],
  ["an array of numbers", "[1,2]", /no JSON object/],
  ["an array of several", `[${planText}, ${planText}]`, /array/],
  ["half an object", '{"intent":"task","reply":"ok"', /^cut/],
  ["half a string", '{"intent":"task","reply":"o', /^cut/],
  ["half an array", '{"steps":[{"a":1},', /^cut/],
  ["a whole object inside half of one", '{"plan":{"intent":"task"}', /^cut/],
  ["half an object in a fence", `${fence}json\n{"intent":"task",\n${fence}`, /^cut/],
  ["half a comment", '{"a":1 /* never', /^cut/],
  ["half an escape", '{"a":"x\\', /^cut/],
  ["reasoning only", '<think>{"a":1}', /no JSON object/],
  ["a lone quote in single quotes", "{'a':'it's'}", /^cut|not valid JSON/],
  ["bare words", '{"a": task}', /not valid JSON/],
  ["missing comma", '{"a":1 "b":2}', /not valid JSON/],
  ["two commas", '{"a":1,,"b":2}', /not valid JSON/],
  ["a wrong escape", '{"a":"\\d"}', /not valid JSON/],
];

for (const [name, text, why] of unreadable) {
  test(`does not guess: ${name}`, () => {
    const reading = readJson(text);
    expect(reading.ok).toBe(false);
    expect(reading.ok ? "" : reading.why).toMatch(why);
  });
}

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

test("property: any text is survived", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...'{}[]":,\\/*u \nab', "<think>", "</think>", '"reply"', '"intent"')),
      (parts) => {
        readInChunks(parts);
        readJson(parts.join(""));
      },
    ),
  );
});
