/** The schemas of replies, in the strict form that OpenAI and Anthropic take. */
import { expect, test } from "bun:test";
import { describeSchedule, describeVerdict } from "../../../src/core/plan/parse-schedule.ts";
import { describeReply, planSchema } from "../../../src/core/plan/plan.ts";

/** Every schema within a schema. */
function parts(schema: unknown): Record<string, unknown>[] {
  if (typeof schema !== "object" || schema === null) return [];
  const inner = Object.values(schema).flatMap(parts);
  return Array.isArray(schema) ? inner : [schema as Record<string, unknown>, ...inner];
}

test.each([describeReply(planSchema), describeSchedule(), describeVerdict()])(
  "every property is required, and none other",
  (schema) => {
    const objects = parts(schema).filter((each) => each["type"] === "object");
    expect(objects.length).toBeGreaterThan(0);
    for (const each of objects) {
      expect(each["additionalProperties"]).toBe(false);
      expect(each["required"]).toEqual(Object.keys(each["properties"] as object));
    }
    expect(JSON.stringify(schema)).not.toMatch(/\$schema|minimum|maximum/);
  },
);
