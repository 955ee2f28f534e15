/** The action script: shared cases, headers, the end of a reply, the word of the prompt. */
import { describe, expect, test } from "bun:test";
import { chooseTag } from "../../../src/core/script/open-body.ts";
import { parseScript } from "../../../src/core/script/parser.ts";
import { parseReadRange } from "../../../src/core/script/script.ts";
import { expectCpu } from "../cpu-time.ts";
import { actionsOf, bare, cases, chunk, parse } from "./parse-reply.ts";

describe("shared cases", () => {
  for (const size of [Number.MAX_SAFE_INTEGER, 1, 7]) {
    for (const each of cases) {
      test(`${each.id}, ${size > 7 ? "whole" : `${size} a chunk`}`, () => {
        const { id: _, note: __, stream, files, stop, expect: actions, truncated, ...more } = each;
        const script = parse(size > 7 ? [stream] : chunk(stream, size), files, stop);
        expect({ actions: bare(script.actions), truncated: script.truncated } as unknown).toStrictEqual({
          ...{ actions, truncated },
        });
        expect(script).toMatchObject(more);
      });
    }
  }
});

test("every action carries its line", () => {
  const script = parse("hello\nWRITE::a::EOT\n1\nEND::EOT\n\nRM::b\nNOPE::c\n");
  expect(script.actions.map(({ cmd, line }) => [cmd, line])).toEqual([
    ["WRITE", 2],
    ["RM", 6],
  ]);
});

test("a header without word is closed by the word the prompt named", () => {
  const stream = "WRITE::a::a greeting\nEND::EOT\nEND::EOT2\n";
  const { actions } = parseScript(stream, { stop: "end", read: () => null, tag: "EOT2" });
  expect(bare(actions)).toEqual([{ cmd: "WRITE", path: "a", body: "END::EOT\n", flags: ["description-ignored"] }]);
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
