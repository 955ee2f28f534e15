/** The JSON faces under a strict reader (R02, R03). */
import { expect, test } from "bun:test";
import { renderCommandDocument } from "../../src/ui/command-document.ts";
import { createJsonl, renderDocument } from "../../src/ui/json.ts";
import { events, outcome, stamp } from "./fixture.ts";

const key = `AIza${"Sy0123456789abcdefghijklmnopqrstuvw"}`;

function jsonl(list: readonly (typeof events)[number][]): string[] {
  const lines: string[] = [];
  const sink = createJsonl((line) => lines.push(line));
  for (const event of list) sink(event);
  return lines;
}

test("--json is one document and a line feed, keys in the order of the contract (R02)", () => {
  const shuffled = Object.fromEntries(Object.entries(outcome).reverse()) as unknown as typeof outcome;
  const notices = [{ text: "ignored nonsense", code: "settings", level: "warning" }] as const;
  const text = renderDocument(shuffled, notices);
  expect(text.indexOf("\n")).toBe(text.length - 1);
  expect(Object.keys(JSON.parse(text))).toEqual([
    ..."v ok command run mode status code text next plan changes diff checks calls usage cost model score".split(" "),
    ..."ms actions looks amended refused sandbox notices error".split(" "),
  ]);
  expect(JSON.parse(text)).toEqual({ ...outcome, notices });
});

test("other commands: v, ok, command, code, data, notices, error", () => {
  const error = { code: "usage", message: "unknown flag --modle", hint: "--model", retry_after: null } as const;
  expect(renderCommandDocument({ command: "undo", code: 2, data: null, notices: [], error })).toBe(
    '{"v":1,"ok":false,"command":"undo","code":2,"data":null,"notices":[],"error":{"code":"usage","message":"unknown flag --modle","hint":"--model","retry_after":null}}\n',
  );
  expect(renderCommandDocument({ command: "history", code: 0, data: [], notices: [], error: null })).toStartWith(
    '{"v":1,"ok":true',
  );
});

test("--jsonl: one object a line, stamped, first run.started, last run.finished (R03)", () => {
  const lines = jsonl(events);
  expect(lines.every((line) => line.indexOf("\n") === line.length - 1)).toBe(true);
  const parsed = lines.map((line) => JSON.parse(line));
  expect(parsed.map((event) => Object.keys(event).slice(0, 4))).toEqual(lines.map(() => ["type", "run", "seq", "at"]));
  expect(parsed.at(0)).toMatchObject({ type: "run.started", v: 1 });
  expect(parsed.at(-1)).toEqual({ ...events.at(-1), seq: parsed.length, outcome });
  const seqs = parsed.map((event) => event.seq);
  expect(seqs).toEqual(parsed.map((_, at) => at + 1));
});

test("--jsonl: file contents never appear", () => {
  const text = jsonl(events).join("");
  expect(text).not.toContain("secret content");
  expect(text).not.toContain("look.shown");
});

test("line separators, controls and half characters stay inside their string", () => {
  const evil = "a\u2028b\u2029c\u0085d\x1be\nf\ud83d\u202e\u{e0041}";
  const line = jsonl(stamp([{ type: "notice", level: "info", code: "x", text: evil }])).join("");
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(line).text).toBe(evil);
  expect(JSON.parse(renderDocument({ ...outcome, text: evil }, [])).text).toBe(evil);
});

test("the document of a command outside of a run masks what looks like a key, and no digest", () => {
  const data = { key: `the key is ${key}`, sha256: "0".repeat(64) };
  const text = renderCommandDocument({ command: "history", code: 0, data, notices: [], error: null });
  expect(JSON.parse(text).data).toEqual({ key: "the key is AIza…[masked]", sha256: "0".repeat(64) });
});
