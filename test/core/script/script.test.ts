/** The action script: shared cases, headers, the end of a reply, the word of the prompt; arbitrary text. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { StopReason } from "../../../src/core/model.ts";
import { chooseTag, parseScript } from "../../../src/core/script/parser.ts";
import { joinRest } from "../../../src/core/script/resume.ts";
import { parseReadRange } from "../../../src/core/script/script.ts";
import { expectCpu } from "../cpu-time.ts";
import { actionsOf, bare, cases, parse } from "./parse-reply.ts";

describe("shared cases", () => {
  test.each(cases)("$id", ({ id: _, note: __, stream, files, stop, expect: actions, truncated, ...more }) => {
    const script = parse(stream, files, stop);
    expect(bare(script.actions) as unknown).toStrictEqual(actions);
    expect(script.truncated).toBe(truncated);
    expect(script).toMatchObject(more);
  });
});

test("every action carries its line", () => {
  const script = parse("hello\nWRITE::a::EOT\n1\nEND::EOT\n\nRM::b\nNOPE::c\n");
  expect(script.actions.map(({ cmd, line }) => `${cmd} ${line}`)).toEqual(["WRITE 2", "RM 6"]);
});

test("a header without word is closed by the word the prompt named", () => {
  const stream = "WRITE::a::a greeting\nEND::EOT\nEND::EOT2\n";
  const { actions } = parseScript(stream, { stop: "end", read: () => null, tag: "EOT2" });
  expect(bare(actions)).toEqual([{ cmd: "WRITE", path: "a", body: "END::EOT\n" }]);
});

test("a hundred thousand marks are read in a moment", () => {
  for (const mark of [">>>>>>>", "=======", "<<<<<<<"]) {
    const body = `<<<<<<< SEARCH\nx\n=======\ny\n${`${mark}\n`.repeat(100_000)}`;
    expectCpu(2000, () => actionsOf(`MODIFY::a.py::EOT\n${body}END::EOT\n`));
  }
});

describe("the word of the prompt", () => {
  test("is EOT, or the first that no text could close", () => {
    expect(chooseTag([])).toBe("EOT");
    expect(chooseTag(["  END::EOT\nsay END::EOT\n"])).toBe("EOT");
    expect(chooseTag(["a\r\nEND::EOT\r\n"])).toBe("EOT2");
    expect(chooseTag(["WRITE::a::EOT", "EDIT::b::EOT2\n"])).toBe("EOT3");
    expect(chooseTag(["cat <<EOT\nEOT\n"])).toBe("EOT2");
  });
});

test("a READ range is one line or two in order", () => {
  expect(parseReadRange("10-40")).toEqual({ from: 10, to: 40 });
  expect(parseReadRange("7")).toEqual({ from: 7, to: 7 });
  for (const none of [undefined, "", "0", "40-10", "a", "1-", "99999999999"]) expect(parseReadRange(none)).toBeNull();
});

const lines = fc.oneof(
  fc.constantFrom(
    ...["WRITE::a::EOT", "WRITE::a.txt", "MODIFY::a::EOT", "MODIFY::b::DOC", "FINISH::EOT", "FINISH::ok", "END::EOT"],
    ...["END::DOC", "EOT", "", " ", "```", "<think>", "</think>", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"],
    ...["RM::a", "- `RM::b`", 'MV::"a\\"::b', "NEXT: x", "cat <<EOT", "ABC::d", "TREE", "FINISH", "x", "}", "\r"],
  ),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const texts = fc.array(lines, { maxLength: 25 }).map((all) => all.join("\n"));

test("any text is parsed and joined with any other without throwing", () => {
  const stops = fc.constantFrom<StopReason[]>("end", "length", "refused", "calls");
  fc.assert(
    fc.property(texts, texts, stops, (first, second, stop) => {
      const read = (path: string) => (path === "a" ? "x\n=======\n}\n" : null);
      const { cut } = parseScript(first, { stop: "length", read });
      if (cut !== null) parseScript(joinRest(first, cut, second).text, { stop, read });
      parseScript(second, { stop, read });
    }),
    { numRuns: 500 },
  );
});

test("any text survives a WRITE unchanged but for line endings and the final newline, under the chosen word", () => {
  fc.assert(
    fc.property(texts, fc.string({ minLength: 1 }), (text, name) => {
      fc.pre(!/^\s*<{5,9} ?SEARCH/.test(text));
      const tag = chooseTag([text]);
      const path = `${name}.md`;
      const content = text === "" || text.endsWith("\n") ? text : `${text}\n`;
      const [action] = actionsOf(`WRITE::${JSON.stringify(path)}::${tag}\n${content}END::${tag}\nFINISH::ok\n`);
      expect(action).toEqual({ cmd: "WRITE", path, body: content.replaceAll("\r\n", "\n") });
    }),
    { numRuns: 500 },
  );
});

test("two megabytes are parsed", () => {
  const body = "const answer = 42; // the line of a long file\n".repeat(45_000);
  expect(actionsOf(`WRITE::a.ts::EOT\n${body}END::EOT\nFINISH::ok\n`)[0]?.body).toBe(body);
});
