/** The report of an evaluation as a page: what a task is called is text there, whatever it is made of. */
import { expect, test } from "bun:test";
import { renderHtml } from "../../src/lab/eval/report.ts";

test("a name of a task is shown as it is, with marks of HTML and of Markdown", () => {
  const task = "a|b <i>c</i> &lt; ~~d~~ *e*";
  const row = { model: "local:x", mode: "auto", passed: 1, results: 1, ms: 1, actions: 1, added: 1, deleted: 0 };
  const page = renderHtml({ candidates: [], pairs: [], tasks: [{ ...row, task, refused: 0 }] });
  expect(page).toContain("<td>a|b &lt;i&gt;c&lt;/i&gt; &amp;lt; ~~d~~ *e*</td>");
});
