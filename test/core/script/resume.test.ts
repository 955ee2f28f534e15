/** Cut replies of the action script: how the rest is asked for and joined. */
import { describe, expect, test } from "bun:test";
import { joinRest, renderResume } from "../../../src/core/script/resume.ts";
import { actionsOf, bare, cases, finish, parse } from "./parse-reply.ts";

/** What a reply that was cut and its rest come to, with what the model is told. */
function resumed(first: string, rest: string) {
  const { cut } = parse(first, {}, "length");
  if (cut === null) throw new Error("not cut");
  const { text, isLost } = joinRest(first, cut, rest);
  return { ...parse(text), isLost };
}

describe("resuming", () => {
  const first = "WRITE::a.txt::EOT\none\n\ntwo\n  }\nthr";
  const cut = parse(first, {}, "length").cut;
  const resume = (rest: string) => resumed(first, rest);
  const whole = { cmd: "WRITE", path: "a.txt", body: "one\n\ntwo\n  }\nthree\n" };

  test("asks for the rest of the named body after its last complete line", () => {
    if (cut === null) throw new Error("not cut");
    expect(renderResume(cut)).toContain("inside WRITE::a.txt::EOT, after the line «  }»");
    expect(renderResume({ ...cut, lines: ["one", "", ""] })).toContain("«one» and 2 blank lines");
    expect(renderResume({ ...cut, lines: [] })).toContain("right after its header");
    expect(renderResume({ ...cut, lines: ["x".repeat(9000)] }).length).toBeLessThan(700);
  });

  test("goes on inside the body and drops what is repeated", () => {
    for (const overlap of ["", "two\n  }\n", "one\n\ntwo\n  }\n"]) {
      expect(bare(resume(`${overlap}three\nEND::EOT\nFINISH::ok\n`).actions)).toEqual([whole, finish]);
    }
  });

  test("a bracket or blank line that comes again is content", () => {
    expect(resume("  }\n\nEND::EOT\nFINISH::ok\n").actions[0]?.body).toBe("one\n\ntwo\n  }\n  }\n\n");
  });

  test.each(["<think>\nhm\n</think>\n\n", "I go on\nwith three\n</think>\n\n"])(
    "reasoning before the rest is left out, also where its opening mark is missing: %j",
    (reasoning) => {
      expect(bare(resume(`${reasoning}three\nEND::EOT\n`).actions)).toEqual([whole]);
    },
  );

  test("a fence around the rest does not belong to it, however it closes, nor does the line that introduces it", () => {
    const fences = [
      "```ts\nthree\n```\nEND::EOT\n",
      "```\nthree\nEND::EOT\nFINISH::ok\n```\n",
      "Here is the rest of the file:\n\n```ts\nthree\n```\n\nEND::EOT\n",
      "Berikut sisanya:\n```ts\ntwo\n  }\nthree\nEND::EOT\n```",
    ];
    for (const rest of fences) expect(bare(resume(rest).actions)[0]).toEqual(whole);
  });

  test("a fence that may be content stays", () => {
    const resumeReadme = (rest: string) => resumed("WRITE::a.md::EOT\none\n", rest).actions[0]?.body;
    expect(resumeReadme("```sh\nls\n```\nEND::EOT\n")).toBe("one\n```sh\nls\n```\n");
    expect(resumeReadme("```markdown\ntwo\nEND::EOT\n```\n")).toBe("one\ntwo\n");
    const closed = resumed("WRITE::a.md::EOT\n```sh\nls\n", "```\nthen\nEND::EOT\n");
    expect(closed.actions[0]?.body).toBe("```sh\nls\n```\nthen\n");
    expect(resume("three\n```\nfour\n```\nfive\nEND::EOT\n").actions[0]?.body).toBe(
      "one\n\ntwo\n  }\nthree\n```\nfour\n```\nfive\n",
    );
  });

  test("a body that stood in a fence is gone on with in another one", () => {
    for (const rest of ["two\n```\n", "```python\ntwo\n```\n", "```python\none\ntwo\n```\n"]) {
      const script = resumed("WRITE::a.py::EOT\n```python\none\n", `${rest}END::EOT\nFINISH::ok\n`);
      expect(script.actions[0]?.body).toBe("one\ntwo\n");
    }
  });

  test("a fence in the half of an edit in Markdown is content", () => {
    const rest = "```ts\n>>>>>>> REPLACE\nEND::EOT\nFINISH::ok\n";
    const script = resumed("MODIFY::a.md::EOT\n<<<<<<< SEARCH\none\n=======\n", rest);
    expect(script.actions[0]?.blocks).toEqual([{ search: "one\n", replace: "```ts\n" }]);
  });

  test("a reply that begins with any header gives the cut body up", () => {
    const restarted = resume("```\nWRITE::a.txt::EOT\nnew\nEND::EOT\nFINISH::ok\n```\n");
    expect(bare(restarted.actions)).toEqual([{ cmd: "WRITE", path: "a.txt", body: "new\n" }, finish]);
    expect(restarted.isLost).toBe(false);
    const left = resume("FINISH::ok");
    expect(bare(left.actions)).toEqual([finish]);
    expect(left.isLost).toBe(true);
  });

  test("an implied end never completes a body that was cut", () => {
    const script = resume("Going on:\nWRITE::b.txt::EOT\nnew\nEND::EOT\nFINISH::ok\n");
    expect(bare(script.actions)).toEqual([{ cmd: "WRITE", path: "b.txt", body: "new\n" }, finish]);
    expect(script.isLost).toBe(true);
  });

  const replies = [
    cases.find(({ id }) => id === "basic")?.stream ?? "",
    "WRITE::x.sh::EOT\ncat <<EOT\nhé 🙂\nEOT\n\n\n}\n}\nEND::EOT\nRUN::sh x.sh\nFINISH::EOT\nMade it.\nNEXT: run\nEND::EOT\n",
    "MODIFY::a.py::EOT\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n<<<<<<< SEARCH ALL\nfoo\n=======\n>>>>>>> REPLACE\nEND::EOT\nMV::a.py::b.py\nWRITE::n.ts::DOC\n```ts\nEND::EOT\n```\nEND::DOC\nFINISH::ok\n",
  ];

  test("a cut at any place, resumed, gives the actions of the uncut reply", () => {
    for (const reply of replies) {
      const uncut = actionsOf(reply);
      for (let at = 0; at <= reply.length; at++) {
        const text = reply.slice(0, at);
        const head = parse(text, {}, "length");
        const rest = reply.slice(reply.lastIndexOf("\n", at - 1) + 1);
        if (head.cut === null) continue;
        expect(bare(parse(joinRest(text, head.cut, rest).text).actions)).toEqual(uncut);
      }
    }
  });
});
