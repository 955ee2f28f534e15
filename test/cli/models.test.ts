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

test("every model has its sizes and prices in columns, its dearer rate and its end behind them", async () => {
  const lines = await linesOf("2026-11-22", "all");
  expect(lines[0]).toBe("USD per million tokens  window output      in  cached     out");
  const notes = [
    String.raw`above \d+k: [\d.]+ \/ [\d.]+`,
    String.raw`from [\d-]{10}: [\d.]+ \/ [\d.]+`,
    String.raw`ends [\d-]{10}`,
    "closed to new accounts|by invitation only",
  ];
  const note = `(${notes.join("|")})`;
  const row = new RegExp(`^.{24}[ .\\d]{5}[kM] {2,5}\\d+k(?:[ .?\\d]{8}){3}( {2}${note}(; ${note})*)?$`);
  const models = lines.filter((line) => line.startsWith("  ") && !/^ {2}\S{23,}$/.test(line));
  expect(models.filter((line) => !row.test(line))).toEqual([]);
  for (const told of notes) expect([told, models.some((line) => new RegExp(told).test(line))]).toEqual([told, true]);
  expect(lines.at(-1)).toBe(`in use: ${inUse}`);
});

test.each([40, 50, 60, 80])(
  "in %d columns the prices stand below each other, and what has no room behind them below",
  async (columns) => {
    const env = { GEMINI_API_KEY: "AIzaTest", ANTHROPIC_API_KEY: "sk-ant-test", COLUMNS: `${columns}` };
    const lines = await linesOf("2026-11-22", "usable", { env }, inUse, true);
    const models = lines.slice(1, -1).filter((line) => line.startsWith(" "));
    expect(models.filter((line) => line.length > columns)).toEqual([]);
    const ends = lines.flatMap(
      (line) => /^(?: +\d+ {2}\S+)? +[\d.]+[kM](?= +\d+k(?: +[\d.]+){3}(?: |$))/.exec(line)?.[0].length ?? [],
    );
    expect(ends.length).toBeGreaterThan(3);
    expect([...new Set(ends)]).toEqual([(lines[0]?.indexOf("window") ?? 0) + "window".length]);
    if (columns === 60) expect(lines.join("\n")).toMatch(/ 3\.75\n {7}from 2027-01-01: 1\.5 \/ 7\.5/);
  },
);

test("a model that ended is gone; a price that was announced holds from its day on", async () => {
  const [before, after] = [await linesOf("2026-11-23", "all"), await linesOf("2027-01-01", "all")];
  expect(after.filter((line) => line.startsWith("  gemini-2.5-pro"))).toEqual([]);
  expect(before).toContain("  gemini-3.8-flash          1M    33k    0.75   0.075    3.75  from 2027-01-01: 1.5 / 7.5");
  expect(after).toContain("  gemini-3.8-flash          1M    33k     1.5    0.15     7.5");
});

test("a model that new accounts do not get says so", async () => {
  const lines = await linesOf("2026-11-23", "all");
  expect(lines.find((line) => line.startsWith("  gemini-2.5-flash-lite "))).toEndWith("  closed to new accounts");
  expect(lines.find((line) => line.startsWith("  claude-mythos-5 "))).toEndWith("  by invitation only");
  const gemini = lines.slice(
    1,
    lines.findIndex((line) => line.startsWith("openai")),
  );
  const closed = gemini.map((line) => line.includes("closed"));
  expect(closed).toEqual(closed.toSorted((a, b) => Number(a) - Number(b)));
});

test("in a session only what there is a key for is listed, and what is in use", async () => {
  const lines = await linesOf("2026-11-22", "usable", { env: { ANTHROPIC_API_KEY: "sk-ant-test" } });
  const models = lines.flatMap((line) => /^ *(\d+) {2}(\S+)(?: |$)/.exec(line)?.slice(1) ?? []);
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
