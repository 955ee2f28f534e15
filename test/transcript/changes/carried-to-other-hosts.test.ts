/** A change made on one host is carried to others as a file, where no model is asked and only typed commands run. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOutcome } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, modify, planned } from "../replies.ts";

const before = "listen 80\n# one\n# two\n# three\nworkers 1\n";
const after = before.replace("workers 1", "workers 4");
const answers = [planned(["MODIFY app.conf"]), done(modify("app.conf", "workers 1\n", "workers 4\n"))];
const check = "grep -qw 4 app.conf";

/** Three more roots: the same file, one that differs elsewhere, one that differs on the changed line. */
function openHosts({ spare }: Place) {
  const contents = { same: before, apart: before.replace("80", "8080"), touched: before.replace("1", "2") };
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(join(spare, name));
    writeFileSync(join(spare, name, "app.conf"), text);
  }
  return { contents, read: (name: string) => readFileSync(join(spare, name, "app.conf"), "utf8") };
}

async function makeChange(place: Place, flags: readonly string[]): Promise<string> {
  const file = join(place.spare, "change.json");
  const made = await place.pai(["run", "-y", "--json", ...flags, file, "four workers"], { env: { USER: "ann" } });
  expect([made.code, made.stderr]).toEqual([0, expect.any(String)]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  return file;
}

/** No key and no server: a call to a model would fail. */
const apart = { GEMINI_API_KEY: null, PAI_BASE_URL: null };
const apply = (place: Place, host: string, args: readonly string[]) =>
  place.pai(["apply", "-y", "--json", ...args], { cwd: join(place.spare, host), env: apart });

test.concurrent("a verified change is applied on other roots without a model; 11 where the file differs", async () => {
  await using place = openPlace(answers, { "app.conf": before });
  const { contents, read } = openHosts(place);
  const file = await makeChange(place, ["--check", check, "--then", "true", "--save-change"]);
  expect(place.read("app.conf")).toBe(after);

  const same = readOutcome(await apply(place, "same", [file, "--check", check, "--then", "cp app.conf ../loaded"]));
  expect([same.code, same.status, same.calls.made, read("same")]).toEqual([0, "verified", 0, after]);
  expect(readFileSync(join(place.spare, "loaded"), "utf8")).toBe(after);

  const refused = readOutcome(await apply(place, "apart", [file, "--check", check]));
  expect([refused.code, refused.error?.code]).toEqual([11, "plan_stale"]);
  expect(refused.error?.message).toMatch(/^not as they were on ann@\S+ before the change: app\.conf$/);
  expect(read("apart")).toBe(contents.apart);
  const merged = readOutcome(await apply(place, "apart", [file, "--merge", "--check", check]));
  expect([merged.code, read("apart")]).toEqual([0, after.replace("80", "8080")]);

  const disputed = readOutcome(await apply(place, "touched", [file, "--merge"]));
  expect([disputed.code, disputed.error?.message]).toEqual([11, expect.stringContaining("lines of the change (5)")]);
  expect(read("touched")).toBe(contents.touched);
});

test.concurrent("only commands typed on the target run; a notice names those of the source", async () => {
  await using place = openPlace(answers, { "app.conf": before });
  const { contents, read } = openHosts(place);
  const file = await makeChange(place, ["--check", check, "--then", "touch ../ran", "--save-change"]);
  const { mtimeMs } = statSync(join(place.spare, "..", "ran"));

  const plain = await place.pai(["apply", "-y", "--allow-run", file], { cwd: join(place.spare, "same"), env: apart });
  expect(plain.stderr).toContain(`to run them as your own: --check '${check}' --then 'touch ../ran'`);
  expect([plain.code, read("same")]).toEqual([0, after]);
  expect(() => statSync(join(place.spare, "ran"))).toThrow();
  expect(statSync(join(place.spare, "..", "ran")).mtimeMs).toBe(mtimeMs);

  writeFileSync(join(place.spare, "same", "app.conf"), before);
  const red = readOutcome(await apply(place, "same", [file, "--check", "false"]));
  expect([red.code, read("same")]).toEqual([9, before]);
  const taken = readOutcome(await apply(place, "same", [file, "--check", check, "--then", "false"]));
  expect([taken.code, taken.error?.code, read("same")]).toEqual([9, "then_failed", contents.same]);
});

test.concurrent("a dry run saves its change; a run without proof saves none", async () => {
  await using place = openPlace([...answers, ...answers], { "app.conf": before });
  const { read } = openHosts(place);
  const file = await makeChange(place, ["-n", "-o"]);
  expect(place.read("app.conf")).toBe(before);
  expect(readOutcome(await apply(place, "same", [file])).code).toBe(0);
  expect(read("same")).toBe(after);

  const wrong = await place.pai(["run", "-y", "-o", file, "four workers"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--save-change")]);
  const unproved = join(place.spare, "unproved.json");
  const run = await place.pai(["run", "-y", "--save-change", unproved, "four workers"]);
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("was not saved: no check has proved the run")]);
  expect(() => statSync(unproved)).toThrow();
});
