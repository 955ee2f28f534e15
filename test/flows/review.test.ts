/** `--review`: an approved plan is asked about again, batch by batch, with the diff before the question. */
import { describe, expect, test } from "bun:test";
import { finish, modify, plan } from "./plans.ts";
import { play } from "./scripted.ts";

const files = { "a.txt": "one\n" };
const lines = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["one\n", "1\n"]) + finish("Done.")];
const options = { interactive: true, review: true };

describe("review", () => {
  test("shows the diff of each batch, then asks, then applies", async () => {
    const ran = await play({ files, lines, options, answers: ["yes", "yes"] });
    expect(ran.questions.map(({ kind }) => kind)).toEqual(["plan", "batch"]);
    expect(ran.files).toEqual({ "a.txt": "1\n" });
    expect(ran.eventsOf("changes.proposed")[0]?.diff).toContain("-one\n+1\n");
    expect(ran.eventsOf("changes.decided")).toMatchObject([{ accept: true, by: "user" }]);
  });

  test("a no ends the run as declined with everything as it was", async () => {
    const ran = await play({ files, lines, options, answers: ["yes", "no", "no"] });
    expect(ran.files).toEqual(files);
    expect(ran.outcome).toMatchObject({ status: "declined", code: 10, changes: [] });
  });

  test("asks nothing in a dry run, and nothing of who did not want it", async () => {
    const dry = await play({ files, lines, options: { ...options, dryRun: true } });
    expect([dry.outcome.code, dry.questions.length]).toEqual([0, 0]);
    const plain = await play({ files, lines, options: { interactive: true }, answers: ["yes"] });
    expect(plain.questions.map(({ kind }) => kind)).toEqual(["plan"]);
  });
});
