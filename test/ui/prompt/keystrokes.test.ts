/** What terminals send, as keys: legacy, xterm's modifiers, kitty, pastes, and sequences cut anywhere. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Keystroke, openKeys } from "../../../src/ui/prompt/keystrokes.ts";

function readAll(...chunks: readonly string[]): Keystroke[] {
  const keys = openKeys();
  const read: Keystroke[] = [];
  for (const chunk of chunks) {
    keys.push(chunk);
    for (let key = keys.next(); key !== null; key = keys.next()) read.push(key);
  }
  keys.settle();
  for (let key = keys.next(); key !== null; key = keys.next()) read.push(key);
  return read;
}

const names = (...chunks: readonly string[]) => readAll(...chunks).map(({ name, text }) => (text === "" ? name : text));

const spellings: Readonly<Record<string, readonly string[]>> = {
  enter: ["\r", "\n", "\x1b[13u", "\x1bOM", "\x1b[57414u"],
  "alt+enter": ["\x1b\r", "\x1b\n", "\x1b[13;3u", "\x1b[27;3;13~"],
  "shift+enter": ["\x1b[13;2u", "\x1b[27;2;13~"],
  tab: ["\t", "\x1b[9u"],
  "shift+tab": ["\x1b[Z"],
  backspace: ["\x7f", "\x1b[127u"],
  "alt+backspace": ["\x1b\x7f", "\x1b[127;3u"],
  "ctrl+c": ["\x03", "\x1b[99;5u", "\x1b[99;5:1u"],
  "ctrl+a": ["\x01", "\x1b[97;5u", "\x1b[27;5;97~"],
  "alt+b": ["\x1bb", "\x1b[98;3u"],
  left: ["\x1b[D", "\x1bOD", "\x1b[1;1D"],
  "ctrl+left": ["\x1b[1;5D"],
  home: ["\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"],
  delete: ["\x1b[3~"],
  escape: ["\x1b", "\x1b[27u"],
};

for (const [name, all] of Object.entries(spellings)) {
  test(`${name} in every spelling`, () => {
    for (const spelling of all) expect([spelling, ...names(spelling)]).toEqual([spelling, name]);
  });
}

test("a key without a meaning here has no name, and a released key is ignored", () => {
  expect(names("\x1b[15~", "\x1b[[A", "\x1b[I", "\x1b[97;5:3u", "\x1b[<0;1;1M")).toEqual(["", "", "", "", "enter"]);
});

test("text keeps wide, combining and joined characters whole", () => {
  expect(names("日本e\u0301👩‍👩‍👧x\r")).toEqual(["日本e\u0301👩‍👩‍👧x", "enter"]);
});

test("a paste is one key whatever it holds, also when it comes in pieces", () => {
  const pasted = "one\r\ntwo\rthree\n\x1b[A";
  expect(readAll("a\x1b[20", `0~${pasted.slice(0, 5)}`, pasted.slice(5), "\x1b[2", "01~\r")).toEqual([
    { name: "text", text: "a" },
    { name: "paste", text: "one\ntwo\nthree\n\x1b[A" },
    { name: "enter", text: "" },
  ]);
});

test("Ctrl+C ends a paste whose end never comes, and is part of one whose end does", () => {
  const keys = openKeys();
  keys.push("\x1b[200~rm -rf\r");
  expect([keys.next(), keys.begun]).toEqual([null, false]);
  keys.push("\x03");
  expect([keys.next(), keys.begun]).toEqual([null, true]);
  keys.push("more");
  expect([keys.next(), keys.begun]).toEqual([null, false]);
  keys.push("\x03");
  keys.settle();
  expect([keys.next(), keys.next(), keys.begun]).toEqual([{ name: "ctrl+c", text: "" }, null, false]);
  expect(names("\x1b[200~a\x03", "b\x1b[201~")).toEqual(["a\x03b"]);
});

test("an Escape that nothing follows is the key, and what follows one in time is not", () => {
  expect(names("\x1b", "[A")).toEqual(["up"]);
  const keys = openKeys();
  keys.push("\x1b");
  expect([keys.next(), keys.begun]).toEqual([null, true]);
  keys.settle();
  expect([keys.next()?.name, keys.begun]).toEqual(["escape", false]);
});

test("cut anywhere, the same keys come out; nothing throws, nothing hangs", () => {
  const part = fc.constantFrom(...Object.values(spellings).flat(), "a", "日", "\x1b[200~x\ry\x1b[201~", "👩‍👧");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), fc.nat(40), (parts, cut) => {
      // A lone Escape and what follows it are one key by design.
      const text = parts.filter((each) => each !== "\x1b").join("");
      const at = Math.min(cut, text.length);
      const join = (all: readonly Keystroke[]) =>
        all.map(({ name, text: typed }) => (name === "text" ? typed : `<${name}${typed}>`)).join("");
      expect(join(readAll(text.slice(0, at), text.slice(at)))).toBe(join(readAll(text)));
    }),
    { numRuns: 300 },
  );
});
