/** `pai models` and `/model`: what there is today, in lines a person can read. */
import { expect, test } from "bun:test";
import type { Context } from "../../src/cli/command.ts";
import { numberedModel, renderModels } from "../../src/cli/commands/models.ts";
import { openProcess, type Typed } from "./fake-context.ts";

const inUse = "gemini:gemini-3.5-flash-lite";

async function linesOf(day: string, which: "all" | "usable", typed: Typed = {}, used = inUse, stdout = false) {
  const run = async (context: Context) => {
    const tty = { ...context.tty, stdout };
    context.out(renderModels({ ...context, tty, now: () => new Date(day) }, used, which));
    return 0;
  };
  return (await openProcess().run({ run }, typed)).out.trimEnd().split("\n");
}

test("every model has its window and prices in columns, its dearer rate and its end behind them", async () => {
  const lines = await linesOf("2026-11-22", "all");
  expect(lines[0]).toBe("USD per million tokens     window      in  cached     out");
  const models = lines.filter((line) => line.startsWith("  "));
  const row = /^ {2}[a-z0-9.-]+ +\d+k( +[\d.]+){3}( {2}(above \d+k: [\d.]+ \/ [\d.]+)?(; )?(ends [\d-]{10})?)?$/;
  expect(models.filter((line) => !row.test(line) && !line.endsWith("k unknown"))).toEqual([]);
  expect(models.filter((line) => line.length > 100)).toEqual([]);
  for (const note of [/above 200k: /, /ends 20/]) expect(models.some((line) => note.test(line))).toBe(true);
  expect(lines.at(-1)).toBe(`in use: ${inUse}`);
});

test("a terminal wraps the text after the prices in its column", async () => {
  const lines = await linesOf("2026-11-22", "all", { env: { COLUMNS: "80" } }, inUse, true);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.some((line) => /^ {59}ends 20/.test(line))).toBe(true);
});

test("a model that ended is gone, a price that ran out is unknown", async () => {
  const lines = await linesOf("2027-01-01", "all");
  expect(lines.filter((line) => line.startsWith("  gemini-2.5-pro"))).toEqual([]);
  expect(lines).toContain("  gemini-3.8-flash          1049k unknown");
});

test("in a session only what there is a key for is listed, and what is in use", async () => {
  const lines = await linesOf("2026-11-22", "usable", { env: { ANTHROPIC_API_KEY: "sk-ant-test" } });
  const models = lines.flatMap((line) => /^ *(\d+) {2}(\S+) /.exec(line)?.slice(1) ?? []);
  expect(models.filter((_, at) => at % 2 === 0)).toEqual(
    models.filter((_, at) => at % 2 === 1).map((_, at) => `${at + 1}`),
  );
  for (const [name, listed] of [
    ["claude-", true],
    ["gemini-", true],
    ["gpt-", false],
  ] as const)
    expect([name, models.some((each) => each.startsWith(name))]).toEqual([name, listed]);
  expect(lines).toContain("openai (no key)");
});

test("a number of the list names the model in that row, and other numbers name none", async () => {
  const env = { ANTHROPIC_API_KEY: "sk-ant-test" };
  const lines = await linesOf("2026-11-22", "usable", { env });
  const number = lines.flatMap((line) => /^ *(\d+) {2}claude-/.exec(line)?.[1] ?? []).at(0) ?? "";
  const name = lines.flatMap((line) => new RegExp(`^ *${number} {2}(\\S+)`).exec(line)?.[1] ?? []).at(0);
  const named = async (at: number) => {
    let found = "";
    const run = async (context: Context) => {
      found = numberedModel({ ...context, now: () => new Date("2026-11-22") }, inUse, at);
      return 0;
    };
    return { ...(await openProcess().run({ run }, { env })), found };
  };
  expect((await named(Number(number))).found).toBe(`anthropic:${name}`);
  for (const none of [0, 999]) expect(await named(none)).toMatchObject({ found: "" });
});

test("a model nobody knows is not a reason to fail", async () => {
  expect((await linesOf("2026-11-22", "usable", {}, "nonsense")).at(-1)).toBe("in use: nonsense");
});
