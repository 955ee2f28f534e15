/** The action script: shared cases, headers, the end of a reply, the word of the prompt. */
import { describe, expect, test } from "bun:test";
import { chooseTag } from "../../../src/core/script/open-body.ts";
import { parseReadRange } from "../../../src/core/script/script.ts";
import { actionsOf, bare, cases, chunk, finish, parse } from "./parse-reply.ts";

describe("shared cases", () => {
  for (const size of [Number.MAX_SAFE_INTEGER, 1, 7]) {
    for (const each of cases) {
      test(`${each.id}, ${size > 7 ? "whole" : `${size} a chunk`}`, () => {
        const chunks = size > 7 ? [each.stream] : chunk(each.stream, size);
        const script = parse(chunks, each.files, each.stop);
        expect({ actions: bare(script.actions), truncated: script.truncated } as unknown).toStrictEqual({
          actions: each.expect,
          truncated: each.truncated,
        });
      });
    }
  }
});

describe("top level", () => {
  test("commands inside <think> are never run", () => {
    expect(actionsOf("<think>\nRM::victim.txt\n</think>\nFINISH::ok\n")).toEqual([finish]);
    expect(actionsOf("<think>short</think>RM::a\n<think>RM::b\nRM::c")).toEqual([{ cmd: "RM", path: "a" }]);
  });

  test("prose, comments and what follows FINISH are remarks, not failures", () => {
    const script = parse("# step 1\nform follows\n.\nRM::a\nFINISH::ok\nHope it helps.\nRM::b\n");
    expect(bare(script.actions)).toEqual([{ cmd: "RM", path: "a" }, finish]);
    expect(script.remarks).toEqual([
      { line: 1, text: "# step 1" },
      { line: 2, text: "form follows" },
      { line: 3, text: "." },
      { line: 6, text: "Hope it helps." },
      { line: 7, text: "RM::b" },
    ]);
    expect(script.warnings).toEqual([]);
  });

  test("a remark behind a path never makes it another path", () => {
    expect(actionsOf("RM::a.txt (DELETE)\n- `RM::b.txt` is obsolete\n1) READ::c\n")).toEqual([
      { cmd: "RM", path: "a.txt (DELETE)" },
      { cmd: "RM", path: "b.txt" },
      { cmd: "READ", path: "c" },
    ]);
  });

  test("a bare FINISH is one", () => {
    expect(actionsOf("FINISH\n")).toEqual([{ cmd: "FINISH", arg: "", next: [] }]);
  });

  test("no :: cuts a message, a pattern, a command or a path", () => {
    expect(
      actionsOf("SEARCH::std::vec\nREAD::std::vec.txt\nRM::a::b\nREAD::b:c.py::7\nFINISH::use std::vector\n"),
    ).toEqual([
      { cmd: "SEARCH", arg: "std::vec" },
      { cmd: "READ", path: "std::vec.txt" },
      { cmd: "RM", path: "a::b" },
      { cmd: "READ", path: "b:c.py", arg: "7" },
      { cmd: "FINISH", arg: "use std::vector", next: [] },
    ]);
    expect(parse("Use std::vector here\n").warnings).toEqual([]);
  });

  test("names that look like results stay names", () => {
    expect(actionsOf("RM::Success.txt\nMV::Error: log.txt::b\n")).toEqual([
      { cmd: "RM", path: "Success.txt" },
      { cmd: "MV", path: "Error: log.txt", to: "b" },
    ]);
  });

  test("an unknown command and a header that lacks its path are reported to the next phase", () => {
    const script = parse("DEPLOY::prod\nMV::a\nMV::a::b::c\nRM::\nRUN::\nEND::EOT\nFINISH::ok\n");
    expect(bare(script.actions)).toEqual([finish]);
    expect(script.warnings.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(script.warnings[0]).toEqual({ line: 1, text: "DEPLOY is not a command" });
  });

  test("TREE and LIST_PATH without a path mean the root", () => {
    const root = { path: "." };
    expect(actionsOf("TREE\nTREE::\nLIST_PATH::.\nLIST_PATH::src\n")).toEqual([
      { cmd: "TREE", ...root },
      { cmd: "TREE", ...root },
      { cmd: "LIST_PATH", ...root },
      { cmd: "LIST_PATH", path: "src" },
    ]);
  });

  test("quoted paths are JSON; a broken quote is part of the name", () => {
    expect(actionsOf('RM::"a\\u0020b"\nREAD::"c::d"::3-4\nRM::"x\nMKDIR::`src`\n')).toEqual([
      { cmd: "RM", path: "a b" },
      { cmd: "READ", path: "c::d", arg: "3-4" },
      { cmd: "RM", path: '"x' },
      { cmd: "MKDIR", path: "src" },
    ]);
  });

  test("every action and note carries its line", () => {
    const script = parse("hello\nWRITE::a::EOT\n1\nEND::EOT\n\nRM::b\nNOPE::c\n");
    expect(script.actions.map(({ cmd, line }) => [cmd, line])).toEqual([
      ["WRITE", 2],
      ["RM", 6],
    ]);
    expect(script.warnings[0]?.line).toBe(7);
  });
});

describe("the end of a reply", () => {
  test("ended normally without FINISH, every body closed: accepted and flagged", () => {
    const script = parse("RM::a\nRUN::make");
    expect(bare(script.actions)).toEqual([
      { cmd: "RM", path: "a" },
      { cmd: "RUN", arg: "make" },
    ]);
    expect([script.flags, script.truncated, script.cut]).toEqual([["no-finish"], true, null]);
  });

  test("the unterminated last line of a cut reply is never an action", () => {
    for (const stop of ["length", "refused", "calls"] as const) {
      const script = parse("RM::a\nRM::src", {}, stop);
      expect(bare(script.actions)).toEqual([{ cmd: "RM", path: "a" }]);
      expect([script.flags, script.truncated, script.cut]).toEqual([[], true, null]);
    }
  });

  test("an open body means cut, whatever the provider says", () => {
    const script = parse("WRITE::a::EOT\none\ntw");
    expect(bare(script.actions)).toEqual([
      { cmd: "WRITE", path: "a", body: "one\n", partial: true, flags: ["truncated"] },
    ]);
    expect([script.flags, script.truncated]).toEqual([[], true]);
    expect(script.cut).toEqual({ cmd: "WRITE", path: "a", tag: "EOT", line: 1, flags: [], lines: ["one"] });
  });

  test("a cut MODIFY keeps its complete blocks", () => {
    const whole = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
    for (const rest of ["", "<<<<<<< SEARCH\nz\n", "<<<<<<< SEARCH\nz\n=======\nw\n"]) {
      expect(actionsOf(`MODIFY::a::EOT\n${whole}${rest}`, {}, "length")).toEqual([
        { cmd: "MODIFY", path: "a", blocks: [{ search: "x\n", replace: "y\n" }], partial: true, flags: ["truncated"] },
      ]);
    }
  });

  test("FINISH alone promises nothing about the actions before it", () => {
    expect(actionsOf("FINISH::done\n")).toEqual([{ cmd: "FINISH", arg: "done", next: [] }]);
  });
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
