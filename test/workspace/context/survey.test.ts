/** A survey finishes whatever lies in the folder, and names what it left out. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { termsOf } from "../../../src/core/context/words.ts";
import { newFolder } from "../../grounds.ts";
import { openBare } from "../bare.ts";

const signal = new AbortController().signal;

async function surveyOf(root: string) {
  const { workspace } = await openBare(root, null, { env: { PATH: "/usr/bin:/bin" } });
  const survey = workspace.survey?.(termsOf("the default map"));
  if (survey === undefined) throw new Error("a workspace on disk has a survey");
  const { entries, more } = await survey.list(signal);
  const [tally, history] = await Promise.all([survey.tally(signal), survey.history(signal)]);
  return { entries: entries.map(({ path }): string => path), more, tally, history };
}

/** Some disks take seconds to make thousands of files. */
const makeRoot = () => realpathSync(newFolder("memory", "survey"));

test("a file is found by its path as the listing gives it, and not where that leaves it out", async () => {
  const root = makeRoot();
  mkdirSync(join(root, "src/deep"), { recursive: true });
  mkdirSync(join(root, "build/deep"), { recursive: true });
  for (const path of ["src/deep/a.py", "src/skip.py", "build/deep/b.py", ".env", "c.py"])
    writeFileSync(join(root, path), "x\n");
  writeFileSync(join(root, ".gitignore"), "build/\n");
  writeFileSync(join(root, "src/.gitignore"), "skip.py\n");
  symlinkSync("c.py", join(root, "link.py"));
  const { workspace } = await openBare(root, null, { env: { PATH: "/usr/bin:/bin" } });
  const survey = workspace.survey?.([]);
  const find = (written: string) => survey?.find?.(written) ?? null;
  const listed = (await survey?.list(signal))?.entries.flatMap(({ path, kind }) => (kind === "file" ? [path] : []));
  survey?.close();
  expect(listed?.map(find)).toEqual(listed ?? []);
  expect(listed?.map(String)).toEqual([".gitignore", "c.py", "src/.gitignore", "src/deep/a.py"]);
  expect([find(`${root}/c.py`), find("./src//deep/a.py")].map(String)).toEqual(["c.py", "src/deep/a.py"]);
  const others = "src/skip.py build/deep/b.py .env link.py src none/a.py ../c.py /etc/passwd".split(" ");
  expect([...others, ""].filter((other) => find(other) !== null)).toEqual([]);
});

test("binary and huge files, odd names, pipes and links that lead in a circle are passed over", async () => {
  const root = makeRoot();
  writeFileSync(join(root, "a.py"), "default_map = 1\n");
  for (let at = 0; at < 4; at += 1) {
    writeFileSync(join(root, `huge${at}.py`), "default_map\n");
    truncateSync(join(root, `huge${at}.py`), 512 * 1024 * 1024);
  }
  writeFileSync(join(root, "image.bin"), `\0default_map\n`);
  writeFileSync(join(root, "app.min.js"), `default_map;${"x".repeat(500_000)}`);
  writeFileSync(join(root, "bundle.js"), `default_map;${"x".repeat(5_000_000)}`);
  writeFileSync(Buffer.from(`${root}/\xff\xfe.py`, "latin1"), "default_map\n");
  symlinkSync(".", join(root, "circle"));
  spawnSync("mkfifo", [join(root, "pipe.py")]);
  const { entries, more, tally } = await surveyOf(root);
  expect(more).toBe(false);
  expect(entries).toContain("a.py");
  expect(tally.found.map(({ path }) => path)).toEqual(["a.py"]);
  expect([tally.files, tally.unread]).toEqual([1, 0]);
});

test("in a very large project every folder at the top is looked at before the rest of one that holds most of it", async () => {
  const root = makeRoot();
  for (let inner = 0; inner < 31; inner += 1) {
    mkdirSync(join(root, `data/s${10 + inner}`), { recursive: true });
    for (let at = 0; at < 700; at += 1) writeFileSync(join(root, `data/s${10 + inner}`, `f${at}.py`), "");
  }
  mkdirSync(join(root, "shop"));
  writeFileSync(join(root, "shop/cart.py"), "default_map = 1\n");
  const { entries, more, tally } = await surveyOf(root);
  expect([more, entries.length, new Set(entries).size]).toEqual([false, 31 * 701 + 3, 31 * 701 + 3]);
  expect(entries.indexOf("shop/cart.py")).toBeLessThan(entries.indexOf("data/s40/f0.py"));
  expect(tally.found.map(({ path }) => path)).toEqual(["shop/cart.py"]);
});

test("many files are counted beside the main thread as they are in it", async () => {
  const root = makeRoot();
  mkdirSync(join(root, "src"));
  for (let at = 0; at < 1500; at += 1)
    writeFileSync(join(root, "src", `f${at}.py`), `${"default map ".repeat(at % 7)}\nx = ${at}\n`);
  const { tally } = await surveyOf(root);
  expect([tally.files, tally.unread, tally.found.length]).toEqual([1500, 0, 1285]);
});

test("a folder that is a bare repository is a folder of files", async () => {
  const root = makeRoot();
  spawnSync("git", ["init", "-q", "--bare", root]);
  const { entries, history } = await surveyOf(root);
  expect(entries).toContain("description");
  expect(history.commits).toEqual([]);
});
