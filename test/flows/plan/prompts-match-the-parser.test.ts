/** The prompts show the very language the parser reads. */
import { expect, test } from "bun:test";
import { readPlan } from "../../../src/core/plan/parse-plan.ts";
import { parseScript } from "../../../src/core/script/parser.ts";
import planPrompt from "../../../src/flows/prompts/plan.md" with { type: "text" };
import { executePrompt } from "../../../src/flows/prompts/prompts.ts";
import scriptPrompt from "../../../src/flows/prompts/script.md" with { type: "text" };

const script = executePrompt();

const read = () => null;

function parse(text: string) {
  return parseScript(text, { stop: "end", read, tag: "EOT" });
}

test("the example of the script prompt is a whole script: one edit, one FINISH with a suggestion", () => {
  const { actions, truncated, warnings } = parse(scriptPrompt.split("Example:\n")[1] ?? "");
  expect({ truncated, warnings }).toEqual({ truncated: false, warnings: [] });
  expect(actions.map(({ cmd }) => cmd)).toEqual(["MODIFY", "FINISH"]);
  expect(actions[0]?.blocks).toEqual([
    { search: "    return 3.14 * r * r\n", replace: "    return math.pi * r * r\n" },
  ]);
  expect(actions[1]?.next).toEqual(["Add a test for area()"]);
});

test("every action the script prompt lists is one the parser knows", () => {
  const forms = script.slice(script.indexOf("WRITE::"), script.indexOf("\n- {amend rule}"));
  const { actions, remarks, warnings } = parse(forms);
  expect({ remarks, warnings }).toEqual({ remarks: [], warnings: [] });
  expect(actions.map(({ cmd }) => cmd).join(" ")).toBe("WRITE MODIFY MKDIR TOUCH RM MV COPY READ RUN FINISH");
});

test("the plan prompt names the fields of the analysis, for servers that take no schema", () => {
  const reading = readPlan({ intent: "conversation", reply: "Hello", analysis: {} });
  const fields = Object.keys((reading.ok && reading.value.analysis) || {});
  expect(fields.length).toBe(8);
  expect(fields.filter((field) => !planPrompt.includes(field))).toEqual([]);
});
