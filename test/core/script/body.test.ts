/** Bodies of the action script: what ends them, fences, edit blocks. */
import { describe, expect, test } from "bun:test";
import { parseScript } from "../../../src/core/script/parser.ts";
import { expectCpu } from "../cpu-time.ts";
import { actionsOf, bare, finish, parse } from "./parse-reply.ts";

describe("bodies", () => {
  const write = (body: string, path = "a.txt") => actionsOf(`WRITE::${path}::EOT\n${body}END::EOT\n`)[0];

  test("content that starts with a language word or blank lines is kept", () => {
    for (const body of ["go\nhome\n", "c\n", "csharp\n", "\n\n\tgcc -c x.c\n", "  key: value\n"]) {
      expect(write(body)).toEqual({ cmd: "WRITE", path: "a.txt", body });
    }
  });

  test("only a body that is one fence is unwrapped, whatever its language", () => {
    for (const language of ["", "tsx", "c++", "python3", "dockerfile", "plaintext"]) {
      expect(write(`\`\`\`${language}\nx\n\`\`\`\n`)?.body).toBe("x\n");
    }
    for (const body of [
      "Here:\n```\nx\n```\n",
      "```\nx\n```\nafter\n",
      "```\nx\n```\n```\ny\n```\n",
      "# T\n```\nx\n```\n",
    ]) {
      expect(write(body)).toEqual({ cmd: "WRITE", path: "a.txt", body });
    }
  });

  test("the fence around a whole Markdown file is no content, an example in it is", () => {
    const inside = "# T\n\n```sh\nmake\n```\n\n```\nx\n```\n";
    expect(write(`\`\`\`markdown\n${inside}\`\`\`\n`, "README.md")?.body).toBe(inside);
    expect(write("```md\n# T\n```\n", "README.MD")?.body).toBe("# T\n");
    for (const body of ["```md\n# T\n```\n\nso:\n```js\nx\n```\n", "```\nx\n```\n", "```md\nx\n"])
      expect(write(body, "README.md")?.body).toBe(body);
  });

  test("carriage returns of the wire are dropped", () => {
    expect(actionsOf("WRITE::a::EOT\r\none\r\nEND::EOT\r\nFINISH::ok\r\n")).toEqual([
      { cmd: "WRITE", path: "a", body: "one\n" },
      finish,
    ]);
  });

  test("a bare word ends a body before a header or the end, but not its own here-document", () => {
    expect(actionsOf("WRITE::a::EOT\none\nEOT\nRM::b\n")).toEqual([
      { cmd: "WRITE", path: "a", body: "one\n", flags: ["bare-end"] },
      { cmd: "RM", path: "b" },
    ]);
    expect(actionsOf("WRITE::a::EOT\none\nEOT")).toEqual([
      { cmd: "WRITE", path: "a", body: "one\n", flags: ["bare-end"] },
    ]);
    const body = "cat <<'EOT' >x\nhello\nEOT\n\necho done\n";
    expect(write(body, "a.sh")).toEqual({ cmd: "WRITE", path: "a.sh", body });
  });

  test("a header without word and without body is a complaint, never an empty file", () => {
    const script = parse("WRITE::a.txt::make a greeting\nMODIFY::b.txt\nRUN::make\nWRITE::c.txt");
    expect(bare(script.actions)).toEqual([{ cmd: "RUN", arg: "make" }]);
    expect(script.warnings).toEqual([
      { line: 1, text: "WRITE::a.txt has no body: send it with END::EOT" },
      { line: 2, text: "MODIFY::b.txt has no body: send it with END::EOT" },
      { line: 4, text: "WRITE::c.txt has no body: send it with END::EOT" },
    ]);
  });

  test("a header without word is closed by the word the prompt named", () => {
    const { actions } = parseScript("WRITE::a::a greeting\nEND::EOT\nEND::EOT2\n", {
      stop: "end",
      read: () => null,
      tag: "EOT2",
    });
    expect(bare(actions)).toEqual([{ cmd: "WRITE", path: "a", body: "END::EOT\n", flags: ["description-ignored"] }]);
  });

  test("a body without a path is skipped whole, its lines are not run", () => {
    const script = parse("WRITE::::EOT\nRM::a\nEND::EOT\nFINISH::ok\n");
    expect(bare(script.actions)).toEqual([finish]);
    expect(script.warnings).toEqual([{ line: 1, text: "WRITE needs a path; its body was skipped" }]);
  });

  test("FINISH::WORD is a message unless END::WORD follows", () => {
    const script = parse("FINISH::DONE\nThat was all.\n");
    expect(bare(script.actions)).toEqual([{ cmd: "FINISH", arg: "DONE", next: [] }]);
    expect(script.remarks).toEqual([{ line: 2, text: "That was all." }]);
    expect(script.truncated).toBe(false);
    expect(actionsOf("FINISH::DONE\nAll.\nNEXT: rest\nEND::DONE")).toEqual([
      { cmd: "FINISH", arg: "All.", next: ["rest"] },
    ]);
  });
});

describe("edit blocks", () => {
  const modify = (body: string, files: Record<string, string> = {}) =>
    actionsOf(`MODIFY::a.md::EOT\n${body}END::EOT\n`, files)[0];
  const block = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
  const edit = { search: "x\n", replace: "y\n" };

  test("a file that is there is never overwritten by a MODIFY without blocks", () => {
    expect(modify("new text\n", { "a.md": "old\n" })).toEqual({
      cmd: "MODIFY",
      path: "a.md",
      blocks: [],
      flags: ["no-blocks"],
    });
  });

  test("neither an empty body nor a broken block creates a missing file", () => {
    expect(modify("")?.flags).toEqual(["no-blocks"]);
    expect(modify("<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n")?.flags).toEqual(["no-divider", "no-blocks"]);
  });

  test("one broken block breaks the MODIFY, all or none", () => {
    const broken = "<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n";
    for (const body of [block + broken, broken + block, block + broken.slice(0, 17)]) {
      expect(modify(body)).toEqual({ cmd: "MODIFY", path: "a.md", blocks: [], flags: ["no-divider", "no-blocks"] });
    }
  });

  test("fences and prose around blocks are left out", () => {
    expect(modify(`\`\`\`\n${block}\`\`\`\n`)?.blocks).toEqual([edit]);
    expect(modify(`First:\n${block}Then:\n${block}`)).toEqual({
      cmd: "MODIFY",
      path: "a.md",
      blocks: [edit, edit],
      flags: ["stray-text"],
    });
  });

  test("in a file with marks the closer is the last one before the next opener; in any other that is unclear", () => {
    const body = "<<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE\ny\n>>>>>>> REPLACE\n";
    expect(modify(body + block, { "a.md": "x\n\n>>>>>>> REPLACE\n" })?.blocks).toEqual([
      { search: "x\n", replace: ">>>>>>> REPLACE\ny\n" },
      edit,
    ]);
    expect(modify(body + block, { "a.md": "x\n" })?.flags).toEqual(["mark-inside", "no-blocks"]);
  });

  test("of several dividers the last one counts whose left side occurs exactly once", () => {
    const body = "<<<<<<< SEARCH\nOptions\n=======\nOptions\n=======\nmore\n>>>>>>> REPLACE\n";
    expect(modify(body, { "a.md": "Options\n-------\n" })?.blocks).toEqual([
      { search: "Options\n", replace: "Options\n=======\nmore\n" },
    ]);
    expect(modify(body, { "a.md": "Options\n=======\nOptions\n" })?.blocks).toEqual([
      { search: "Options\n=======\nOptions\n", replace: "more\n" },
    ]);
  });

  test("dividers that the file does not settle are a complaint", () => {
    const body = "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n";
    for (const file of ["other\n", "a\n", "a\na\n=======\nz\n"]) {
      expect(modify(body, { "a.md": file })?.flags).toEqual(["divider-unclear", "no-blocks"]);
    }
    expect(modify(body.replace("SEARCH", "SEARCH ALL"), { "a.md": "a\na\n=======\nz\n" })?.blocks).toEqual([
      { search: "a\n", replace: "b\n=======\nc\n", all: true },
    ]);
  });

  test("an empty search in a missing file takes the first divider", () => {
    expect(modify("<<<<<<< SEARCH\n=======\nOptions\n=======\n>>>>>>> REPLACE\n")?.blocks).toEqual([
      { search: "", replace: "Options\n=======\n" },
    ]);
  });
});

test("a hundred thousand marks are read in a moment", () => {
  for (const mark of [">>>>>>>", "=======", "<<<<<<<"]) {
    const body = `<<<<<<< SEARCH\nx\n=======\ny\n${`${mark}\n`.repeat(100_000)}`;
    expectCpu(2000, () => actionsOf(`MODIFY::a.py::EOT\n${body}END::EOT\n`));
  }
});
