/** The prompts show the very language the parser reads. */
import { expect, test } from "bun:test";
import { readPlan } from "../../../src/core/plan/parse-plan.ts";
import { describeReply, planSchema } from "../../../src/core/plan/plan.ts";
import { parseScript } from "../../../src/core/script/parser.ts";
import { planAndWorkPrompt } from "../../../src/flows/prompts/prompts.ts";
import scriptPrompt from "../../../src/flows/prompts/script.md" with { type: "text" };

const prompt = planAndWorkPrompt(false);

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
  const forms = prompt.slice(prompt.indexOf("WRITE::"), prompt.indexOf("\n- Only the paths"));
  const { actions, remarks, warnings } = parse(forms);
  expect({ remarks, warnings }).toEqual({ remarks: [], warnings: [] });
  expect(actions.map(({ cmd }) => cmd).join(" ")).toBe("WRITE MODIFY MKDIR TOUCH RM MV COPY LINK MODE READ RUN FINISH");
});

test("the form of a plan in the prompt is a plan that the parser reads, with every field that it asks for", () => {
  const form = prompt.split("\n").find((line) => line.startsWith('{"intent"')) ?? "";
  const reading = readPlan(JSON.parse(form));
  expect(reading).toMatchObject({ ok: true, value: { intent: "task" } });
  const fields = (value: unknown): string[] =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value).flatMap(([key, inner]) => [key, ...fields(inner)])
      : [];
  const asked = fields(readPlan({ ...JSON.parse(form) }));
  expect(asked.length).toBeGreaterThan(10);
  for (const name of Object.keys((describeReply(planSchema) as { properties: object }).properties))
    expect(form).toContain(name);
});
