/** `pai schema` prints JSON Schemas, and what pai prints is what they describe. */
import { expect, test } from "bun:test";
import { z } from "zod";
import { readCommand, readEvents, readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";
import { done, hello, modify, planned, talked, write } from "../replies.ts";

async function schemaOf(name: string): Promise<z.ZodType> {
  await using place = openPlace();
  const { code, stdout } = await place.pai(["schema", name]);
  expect(code).toBe(0);
  const schema = JSON.parse(stdout);
  expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
  // A field that is added later breaks nobody who validates (R03).
  expect(stdout).not.toContain("additionalProperties");
  return z.fromJSONSchema(schema);
}

const fix = [
  planned(["MODIFY a.txt", "WRITE b.txt"], { checks: ["true"] }),
  done(modify("a.txt", "one\n", "two\n") + write("b.txt", "b\n")),
];

test.concurrent("documents of runs, failures and other commands fit pai schema json (R02)", async () => {
  const schema = await schemaOf("json");
  await using place = openPlace([...fix, talked("Hello."), ...hello, { status: 401 }], { "a.txt": "one\n" });
  for (const args of [
    ["run", "-y", "--allow-run", "--check", "true", "fix it"],
    ["run", "say hello"],
    ["run", "make hello.txt"],
    ["undo", "-y"],
    ["history"],
    ["models"],
    ["doctor", "--offline"],
    ["key", "list"],
    ["config", "get"],
    ["resume", "--list"],
    ["completion", "bash"],
    ["uninstall"],
    ["schema", "none"],
    ["trust"],
    ["histroy"],
    ["help", "none"],
    ["run", "--nonsense", "x y"],
    ["undo", "-y"],
  ]) {
    const { stdout } = await place.pai([...args, "--json"]);
    const parsed = schema.safeParse(JSON.parse(stdout));
    expect([args, parsed.error?.issues ?? []]).toEqual([args, []]);
  }
});

test.concurrent("events fit pai schema jsonl (R03)", async () => {
  const schema = await schemaOf("jsonl");
  await using place = openPlace([...fix, ...hello, { status: 401 }], { "a.txt": "one\n" });
  const seen = new Set<string>();
  for (const args of [
    ["run", "-y", "--allow-run", "--check", "true", "fix it"],
    ["run", "-y", "--check", "false", "--max-calls", "2", "make hello.txt"],
    ["run", "-y", "--jsno"],
  ]) {
    const { stdout } = await place.pai([...args, "--jsonl"]);
    for (const line of stdout.trim().split("\n")) {
      const event = JSON.parse(line);
      seen.add(event.type);
      expect([line, schema.safeParse(event).error?.issues ?? []]).toEqual([line, []]);
    }
  }
  for (const type of ["plan.ready", "call.finished", "changes.applied", "changes.rolled_back", "check.finished"]) {
    expect(seen).toContain(type);
  }
});

test.concurrent("a plan fits pai schema plan", async () => {
  const schema = await schemaOf("plan");
  await using place = openPlace(fix.slice(0, 1), { "a.txt": "one\n" });
  const { stdout } = await place.pai(["plan", "--json", "fix it"]);
  expect(schema.safeParse(JSON.parse(stdout).plan).error?.issues ?? []).toEqual([]);
});

test.concurrent("a notice from before a run is an event too, after the first one, also with -q", async () => {
  await using place = openPlace([talked("Hello."), talked("Hello.")], { "pai.json": '{"nonsense": 1}' });
  for (const [flags, told] of [
    [[], true],
    [["-q"], false],
  ] as const) {
    const result = await place.pai(["run", "--jsonl", ...flags, "say hello"]);
    const [first, second] = readEvents(result);
    expect(first?.type).toBe("run.started");
    expect(second).toMatchObject({ type: "notice", level: "warning", code: "settings" });
    expect(result.stderr.includes("ignored nonsense")).toBe(told);
  }
});

const noKey = { GEMINI_API_KEY: null, PAI_BASE_URL: null };

test.concurrent("a notice from before a run that never begins reaches a program, too", async () => {
  await using place = openPlace([], { "pai.json": '{"nonsense": 1}' });
  const [first, second, last, ...more] = readEvents(await place.pai(["run", "--jsonl", "do it"], { env: noKey }));
  expect([first?.type, more.length]).toEqual(["run.started", 0]);
  expect(second).toMatchObject({ type: "notice", level: "warning", code: "settings" });
  expect(last).toMatchObject({ type: "run.finished", outcome: { error: { code: "no_key" } } });

  for (const [words, code] of [
    [["do it"], "no_key"],
    [[" "], "usage"],
  ] as const) {
    const { error, notices } = readOutcome(await place.pai(["run", "--json", ...words], { env: noKey }));
    expect(error?.code).toBe(code);
    expect(notices).toMatchObject([{ level: "warning", code: "settings", text: expect.stringContaining("nonsense") }]);
  }
});

test.concurrent("documents hold the notices beside the result, also with -q", async () => {
  const limited = [{ status: 429, headers: { "retry-after": "0" } }, talked("Hello.")] as const;
  await using place = openPlace([...limited], { "pai.json": '{"nonsense": 1}' });
  const told = { level: "warning", code: "settings", text: expect.stringContaining("nonsense") };
  for (const args of [["history"], ["resume", "--list"], ["context", "say hello"]])
    expect(readCommand(await place.pai([...args, "--json", "-q"])).notices).toMatchObject([told]);
  expect(readCommand(await place.pai(["undo", "--json"])).notices).toMatchObject([told]);
  const { notices } = readOutcome(await place.pai(["run", "--json", "-q", "say hello"]));
  expect(notices).toMatchObject([told, { level: "info", code: "waiting" }, { level: "info", code: "answered" }]);
});
