/** One door to the terminal: no text of any event acts on it, whatever forgot to make it visible. */
import { expect, test } from "bun:test";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import fc from "fast-check";
import { openDoor } from "../../../src/acp/door.ts";
import { createFace } from "../../../src/acp/face.ts";
import type { StampedEvent } from "../../../src/core/event.ts";
import { createJsonl, renderDocument } from "../../../src/ui/json.ts";
import { spellQuestion } from "../../../src/ui/prompt/read-answer.ts";
import type { TerminalOptions } from "../../../src/ui/run/terminal.ts";
import { openVisible, visible } from "../../../src/ui/sanitize.ts";
import { chooseStyle, ownCodes } from "../../../src/ui/style.ts";
import { everyEvent } from "../../every-event.ts";
import { openTerminal } from "../fixture.ts";

/** Clipboard, screen, title, hidden text, text turned round, C1 controls, carriage return, a line of its own, a link. */
const pieces = [
  ...["a", " ", "\n", "\x1b]52;c;ZXZpbA==\x07", "\x1b[2J", "\x1b[8m", "\x1b[31m", "\x1b]0;t\x07"],
  ...["\x1b]8;;http://x\x1b\\", "\u202e", "\u200b", "\x9b2J", "\x9d0;t\x9c", "\r", "\b", "\u2028"],
  ...["\ufeff", "\u{e0041}", "\x00", "\x7f", "\ud83d", "`", "**", "```\n"],
];
const evil = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }).map((all) => all.join(""));
const all = pieces.join("b");

/** What of a text would act: controls but LF and TAB, marks that hide or turn, codes that are not pai's own. */
function acting(text: string): string[] {
  const without = text.replace(/\x1b\[[\d;]*m/g, (code) => (ownCodes.has(code) ? "" : code));
  return [
    ...without.matchAll(
      /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
    ),
  ].map(([found]) => JSON.stringify(found));
}

type Shown = Readonly<Record<string, string>>;

/** What each event and the end of its run print. */
function show(events: readonly StampedEvent[], options: Partial<TerminalOptions>, color: boolean): Shown {
  const style = chooseStyle({ tty: color, env: { TERM: "xterm-256color", LANG: "C.UTF-8" }, plain: !color });
  const shown: Record<string, string> = {};
  for (const event of events) {
    const write = (part: string) => {
      shown[event.type] = (shown[event.type] ?? "") + part;
    };
    const terminal = openTerminal(write, { style, outStyle: style, verbose: true, ...options });
    terminal.sink(event);
    terminal.pause();
    if (event.type === "run.finished") terminal.finish(event.outcome);
  }
  return shown;
}

const named = (shown: Shown): Shown =>
  Object.fromEntries(
    Object.entries(shown).flatMap(([type, text]) => (acting(text).length === 0 ? [] : [[type, text]])),
  );

const faces: readonly Partial<TerminalOptions>[] = [
  {},
  { screen: false, verbose: false },
  { kind: "plan", screen: false },
  { kind: "session", asks: true, verbose: false },
  { quiet: true },
];

for (const color of [true, false]) {
  test(`nothing acts on the terminal, ${color ? "with" : "without"} colours`, () => {
    for (const options of faces) expect(named(show(everyEvent(all), options, color))).toEqual({});
    const property = fc.property(evil, fc.constantFrom(...faces), (text, options) => {
      expect(named(show(everyEvent(text), options, color))).toEqual({});
    });
    fc.assert(property, { numRuns: 30 });
  });
}

test("all that is to be seen of an event is shown, so that the search above finds something", () => {
  const shown = show(everyEvent("PROBE"), {}, true);
  const silent = everyEvent("PROBE")
    .map(({ type }) => type)
    .filter((type) => !shown[type]?.includes("PROBE"));
  // Numbers only, or what the session file, the receipt, the waiting line or the next event shows.
  expect([...new Set(silent)].sort()).toEqual([
    "budget.updated",
    "call.started",
    "changes.applied",
    "changes.decided",
    "changes.rolled_back",
    "command.output",
    "context.sent",
    "conversation.replaced",
    "files.known",
    "message.added",
    "model.progress",
    "phase.started",
  ]);
});

test("nothing acts in documents or in a stream of events, and each event is a line", () => {
  const property = fc.property(fc.oneof(evil, fc.constant(all)), (text) => {
    const lines: string[] = [];
    const jsonl = createJsonl((line) => void lines.push(line));
    for (const event of everyEvent(text)) {
      jsonl(event);
      if (event.type === "run.finished")
        lines.push(renderDocument(event.outcome, [{ level: "info", code: text, text }]));
    }
    for (const line of lines) expect([acting(line), line.indexOf("\n")]).toEqual([[], line.length - 1]);
  });
  fc.assert(property, { numRuns: 30 });
});

test("nothing of an editor's messages acts but paths and contents, which it looks up and applies", async () => {
  const showing = { text: visible, question: spellQuestion, open: openVisible };
  const sent: string[] = [];
  const send = async (update: SessionUpdate) =>
    void sent.push(JSON.stringify(update, (key, part) => (/^(path|oldText|newText)$/.test(key) ? "" : part)));
  for (const text of [all, ...fc.sample(evil, 20)]) {
    const door = openDoor(showing, send);
    const face = createFace({ send: door, absolute: (path) => path, readText: async () => text });
    for (const event of everyEvent(text)) {
      face.sink(event);
      if (event.type === "run.finished") await face.finish(event.outcome);
    }
  }
  expect(sent.length).toBeGreaterThan(300);
  expect(acting(sent.join("\n"))).toEqual([]);
});
