/** Replies of models that know other formats: carried out within the contract, or answered with what to send. */
import { expect, test } from "bun:test";
import { finish, plan, write } from "../plans.ts";
import { play } from "../scripted.ts";

const files = { "a.py": "x = 1\ny = 2\n", "b.py": "z = 3\n" };
const diff = "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n-x = 1\n+x = 5\n y = 2\n```\n";

test("it stays inside the contract: a file that the plan does not list is refused", async () => {
  const other = diff.replaceAll("a.py", "b.py").replace("x = 1", "z = 3").replace(" y = 2\n", "");
  const ran = await play({ files, lines: [plan({ steps: ["MODIFY a.py"] }), other, finish()] });
  expect(ran.files).toEqual(files);
  expect(ran.outcome.code).toBe(12);
});

test("what cannot be read is answered in two lines: what it held, and what to send, with the word of the tag", async () => {
  const tagged = { ...files, "b.py": "END::EOT\n" };
  const steps = ["MODIFY a.py", "MODIFY b.py"];
  const loose = "```\n<<<<<<< SEARCH\nx = 1\n=======\nx = 5\n>>>>>>> REPLACE\n```\n";
  const lines = [plan({ steps, complexity: "complex" }), loose, write("a.py", "x\n"), finish()];
  const ran = await play({ files: tagged, lines: [...lines, finish()], options: { keep: true } });
  expect(ran.asked(3)).toContain(
    "Your last reply could not be used: the reply held SEARCH/REPLACE blocks outside of an action.\nSend an existing file's change as MODIFY::path::EOT2,",
  );
});

test("words behind the last END, without FINISH, are the message when nothing is open", async () => {
  const reply = `${write("c.py", "print(1)\n")}\nI wrote c.py.\nRun it with python3.\n`;
  const ran = await play({ files, lines: [plan({ steps: ["WRITE c.py"] }), reply] });
  expect(ran.outcome).toMatchObject({ code: 0, text: "I wrote c.py.\nRun it with python3.", calls: { made: 2 } });
});
