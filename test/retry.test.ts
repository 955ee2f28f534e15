/** `scripts/test.ts`: one disturbed test may pass on its second try and is counted; nothing else that fails ends green. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Each test starts five processes, which share the machine with the other tests. */
setDefaultTimeout(60_000);

const root = join(import.meta.dir, "..");
const places: string[] = [];
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true });
});

const passing = 'import { expect, test } from "bun:test";\ntest("passes", () => expect(1).toBe(1));\n';
const failing = 'import { expect, test } from "bun:test";\ntest("fails", () => expect(1).toBe(2));\n';
/** Fails at its first run only. */
const disturbed = `import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
test("is disturbed", () => {
  const isSecond = existsSync(import.meta.path + ".ran");
  writeFileSync(import.meta.path + ".ran", "");
  expect(isSecond).toBe(true);
});
`;

/** Runs the runner on a project of these tests, beside one that passes in each folder; its last two lines. */
async function runOn(tests: Readonly<Record<string, string>>): Promise<{ code: number; end: string[]; all: string }> {
  const place = mkdtempSync(join(tmpdir(), "pai-retry-"));
  places.push(place);
  cpSync(join(root, "scripts/test.ts"), join(place, "scripts/test.ts"));
  for (const name of ["bunfig.toml", "test/seed.ts"]) cpSync(join(root, name), join(place, name));
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
  const folders = ["transcript", "workspace", "workspace/sandbox", "core"];
  const usual = Object.fromEntries(folders.map((folder) => [`${folder}/usual.test.ts`, passing]));
  for (const [name, source] of Object.entries({ ...usual, ...tests })) {
    mkdirSync(dirname(join(place, "test", name)), { recursive: true });
    writeFileSync(join(place, "test", name), source);
  }
  const child = Bun.spawn([process.execPath, "scripts/test.ts"], { cwd: place, stdout: "pipe", stderr: "pipe" });
  const [all, , code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, end: all.trimEnd().split("\n").slice(-2), all };
}

test.concurrent("one test of a disturbed folder that passes on retry is named and counted, and the run passes", async () => {
  const { code, end, all } = await runOn({ "transcript/a.test.ts": disturbed });
  expect(end).toEqual(["1 passed on retry", "5 passed, 0 failed, 0 skipped"]);
  expect(all).toContain("passed on retry: test/transcript/a.test.ts: is disturbed");
  expect(code).toBe(0);
});

test.concurrent("two of them fail the run", async () => {
  const { code, end } = await runOn({ "transcript/a.test.ts": disturbed, "workspace/b.test.ts": disturbed });
  expect(end).toEqual(["2 passed on retry", "4 passed, 2 failed, 0 skipped"]);
  expect(code).toBe(1);
});

test.concurrent("a pure test is never tried again, nor is anything beside it", async () => {
  const { code, end, all } = await runOn({ "transcript/a.test.ts": disturbed, "core/b.test.ts": disturbed });
  expect(end.at(-1)).toBe("4 passed, 2 failed, 0 skipped");
  expect(all).not.toContain("on retry");
  expect(code).toBe(1);
});

test.concurrent("a test that fails twice fails the run", async () => {
  const { code, end, all } = await runOn({ "workspace/a.test.ts": failing });
  expect(end.at(-1)).toBe("4 passed, 1 failed, 0 skipped");
  expect(all).toContain("failed again: test/workspace/a.test.ts: fails");
  expect(code).toBe(1);
});
