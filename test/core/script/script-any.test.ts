/** The action script against arbitrary text: total, the same at any chunking, faithful to content. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { StopReason } from "../../../src/core/model.ts";
import { chooseTag } from "../../../src/core/script/open-body.ts";
import { parseScript } from "../../../src/core/script/parser.ts";
import { actionsOf, chunk } from "./parse-reply.ts";

const lines = fc.oneof(
  fc.constantFrom(
    ...["WRITE::a::EOT", "WRITE::a.txt", "MODIFY::a::EOT", "MODIFY::b::DOC", "FINISH::EOT", "FINISH::ok", "END::EOT"],
    ...["END::DOC", "EOT", "", " ", "```", "<think>", "</think>", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"],
    ...["RM::a", "- `RM::b`", 'MV::"a\\"::b', "NEXT: x", "cat <<EOT", "ABC::d", "TREE", "FINISH", "x", "}", "\r"],
  ),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const texts = fc.array(lines, { maxLength: 25 }).map((all) => all.join("\n"));

test("any text is parsed without throwing, and the same at any chunking, resumed or not", () => {
  const stops = fc.constantFrom<StopReason[]>("end", "length", "refused", "calls");
  fc.assert(
    fc.property(texts, texts, stops, fc.integer({ min: 1, max: 9 }), (first, second, stop, size) => {
      const read = (path: string) => (path === "a" ? "x\n=======\n}\n" : null);
      const { cut } = parseScript(first, { stop: "length", read });
      for (const resumed of [null, cut]) {
        const options = { stop, read, resumed };
        expect(parseScript(chunk(second, size), options)).toEqual(parseScript(second, options));
      }
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
