/** What a terminal sends becomes messages (P42). */
import { expect, test } from "bun:test";
import { openTyping, unmarkLines } from "../../src/ui/paste.ts";

function messages(...chunks: string[]): string[] {
  const typing = openTyping();
  let line = "";
  const found: string[] = [];
  for (const chunk of chunks) {
    typing.push(chunk);
    for (let part = typing.take(); part !== ""; part = typing.take()) {
      line += part;
      if (!line.endsWith("\r")) continue;
      found.push(unmarkLines(line.slice(0, -1)));
      line = "";
    }
  }
  return found;
}

test("Enter ends a message, what follows is kept for the next", () => {
  const typing = openTyping();
  typing.push("one\rtwo\r");
  expect([typing.take(), typing.take(), typing.take()]).toEqual(["one\r", "two\r", ""]);
});

test("a bracketed paste is one message with its line feeds, whatever they are", () => {
  expect(messages("a \x1b[200~1\r\n2\r3\n4\x1b[201~ b\r")).toEqual(["a 1\n2\n3\n4 b"]);
});

test("a paste may arrive in pieces, cut anywhere after its first byte", () => {
  const text = "\x1b[200~one\rtwo\x1b[201~\r";
  for (let cut = 2; cut < text.length; cut++) {
    expect(messages(text.slice(0, cut), text.slice(cut))).toEqual(["one\ntwo"]);
  }
});

test("control characters in a paste are dropped, so it cannot press keys", () => {
  expect(messages("\x1b[200~rm\x03 \x1b[Ax\x1b[201~\r")).toEqual(["rm [Ax"]);
});

test("Alt+Enter is a line feed, arrows pass", () => {
  expect(messages("a\x1b\rb\x1b[D\r")).toEqual(["a\nb\x1b[D"]);
});

test("nothing that was typed ahead survives a clear", () => {
  const typing = openTyping();
  typing.push("y\r");
  typing.clear();
  expect(typing.take()).toBe("");
});
