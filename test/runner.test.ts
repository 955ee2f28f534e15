/** `scripts/test.ts`: its last line counts, a skip says what it lacks, nothing of a test stays, and nothing ends green by silence. */
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "./grounds.ts";

const root = join(import.meta.dir, "..");
const own = ["scripts/test.ts", "bunfig.toml", "test/setup.ts", "test/grounds.ts", "test/needs.ts"];
const head = 'import { expect, test } from "bun:test";\n';
const passing = `${head}test("passes", () => expect(1).toBe(1));\n`;

/** Runs the runner on a project of these tests. */
async function runOn(tests: Readonly<Record<string, string>>) {
  const place = newFolder("disk", "runner");
  for (const name of own) cpSync(join(root, name), join(place, name));
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
  for (const [name, text] of Object.entries(tests)) writeFileSync(join(place, "test", name), text);
  const temporary = join(place, "tmp");
  mkdirSync(temporary);
  const child = Bun.spawn([process.execPath, "scripts/test.ts"], {
    cwd: place,
    env: { ...process.env, TMPDIR: temporary },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [all, , code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, all, lines: all.trimEnd().split("\n"), left: readdirSync(temporary) };
}

test.concurrent("what passes is counted in the last line", async () => {
  const { code, lines } = await runOn({ "a.test.ts": passing, "b.test.ts": passing });
  expect([code, lines.at(-1)]).toEqual([0, "2 passed, 0 failed, 0 skipped"]);
});

test.concurrent("a test that fails is named with its file", async () => {
  const { code, all, lines } = await runOn({
    "a.test.ts": passing,
    "b.test.ts": `${head}test("fails", () => expect(1).toBe(2));\n`,
  });
  expect([code, lines.at(-1)]).toEqual([1, "1 passed, 1 failed, 0 skipped"]);
  expect(all).toContain("failed: test/b.test.ts: fails");
});

test.concurrent("what skipped tests lack is summed up in one line before the count", async () => {
  const needs = `import { needs } from "./needs.ts";\n${head}`;
  const { code, lines } = await runOn({
    "a.test.ts": `${needs}needs("no-such-tool").test("one", () => expect(1).toBe(2));
needs("no-such-tool").test.concurrent("two", async () => expect(1).toBe(2));
needs("sh").test("three", () => expect(1).toBe(1));`,
    "b.test.ts": `${needs}needs("sh", { name: "a <b>", isHere: false }).describe("four", () => {
  test("five", () => expect(1).toBe(2));
  needs("no-such-tool").test("six", () => expect(1).toBe(2));
});`,
  });
  expect([code, ...lines.slice(-2)]).toEqual([
    0,
    "skipped for want of: no-such-tool 2, a <b> 2",
    "1 passed, 0 failed, 4 skipped",
  ]);
});

test.concurrent("a skip that names no want is a failure", async () => {
  const { code, all, lines } = await runOn({ "a.test.ts": `${passing}test.skip("silent", () => {});\n` });
  expect([code, lines.at(-1)]).toEqual([1, "1 passed, 1 failed, 0 skipped"]);
  expect(all).toContain("skipped without a reason: test/a.test.ts: silent");
});

test.concurrent("no test at all, and a file that breaks off, are failures", async () => {
  expect((await runOn({})).code).toBe(1);
  const { code, lines } = await runOn({ "a.test.ts": `${passing}process.kill(process.pid, "SIGKILL");\n` });
  expect([code, lines.at(-1)]).toEqual([1, expect.stringMatching(/^\d+ passed, [1-9]\d* failed, 0 skipped$/)]);
});

test.concurrent("folders that tests leave are gone, also those that their user may not enter", async () => {
  const { code, left } = await runOn({
    "a.test.ts": `${passing}import { chmodSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
const at = mkdtempSync(tmpdir() + "/mine-");
mkdirSync(at + "/in/shut", { recursive: true });
chmodSync(at + "/in/shut", 0);
chmodSync(at + "/in", 0);
`,
  });
  expect([code, left]).toEqual([0, []]);
});
