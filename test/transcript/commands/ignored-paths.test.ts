/** The built binary: what commands do in ignored paths is undone with the run, or reported with it everywhere. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readOutcome } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, planned } from "../replies.ts";

const files = { ".gitignore": "dist/\n*.csv\n", "a.txt": "a\n", "kept.csv": "1\n", "dist/old.js": "1\n" };
const command = "echo 2 > kept.csv; echo 2 > new.csv; echo 2 > dist/new.js";
const ran = [planned([`RUN ${command}`]), done(""), done("")];

function textsOf({ home, root }: Place): readonly string[] {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\/runs\/.+\.jsonl$/.test(name),
  );
  const logs = readdirSync(join(root, ".pai_history")).filter((name) => name.endsWith(".log"));
  return [...names.map((name) => join(home, name)), ...logs.map((name) => join(root, ".pai_history", name))].map(
    (path) => readFileSync(path, "utf8"),
  );
}

// G13
test.concurrent("a run that failed says what ignored paths stay: in words, in the document, receipt and log", async () => {
  await using place = openPlace(ran, files);
  const { code, stdout } = await place.pai(["run", "-y", "--allow-run", "--no-baseline", "--check", "false", "build"]);
  expect([code, place.tree()]).toEqual([9, { ...files, "dist/new.js": "2\n" }]);
  expect(stdout).toMatch(/failed, all that it had changed was taken back but 1 ignored path: dist/);
  const texts = textsOf(place);
  expect(texts.length).toBe(2);
  for (const text of texts)
    expect(text).toMatch(
      /"stays":\{"count":1,"paths":\["dist"\]| STAYS changed by commands, ignored and not taken back: dist\n/,
    );
  await using other = openPlace(ran, files);
  const args = ["run", "-y", "--json", "--allow-run", "--no-baseline", "--check", "false", "build"];
  expect(readOutcome(await other.pai(args))).toMatchObject({ changes: [], stays: { count: 1 } });
});
