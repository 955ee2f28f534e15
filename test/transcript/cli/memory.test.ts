/** Memory in the built binary: proposed by a run, pending where nobody looks, sent once accepted, gone with its file. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

const plan = planned(["WRITE hello.txt"]);
const script = (note: string) => done(write("hello.txt", "hello\n"), `Done.\nREMEMBER: ${note}`);

test.concurrent("a fact of a headless run is pending, is sent after it was accepted, and falls when its file changes", async () => {
  const note = "tests run as Makefile says";
  const answers = [plan, script(note), plan, plan];
  await using place = openPlace(answers, { Makefile: "test:\n\ttrue\n" });
  expect((await place.pai(["config", "set", "memory", "on"])).code).toBe(0);
  const ran = await place.pai(["run", "-y", "write hello.txt for the tests"]);
  expect({ code: ran.code, out: ran.stdout }).toMatchObject({
    code: 0,
    out: expect.not.stringContaining("REMEMBER"),
  });
  expect(ran.stderr).toContain("pai memory accept");
  const requested = (at: number) => JSON.stringify(place.gemini.requests[at]);
  expect(requested(1)).toContain("REMEMBER: one fact");

  const [{ id }] = JSON.parse((await place.pai(["memory", "--json"])).stdout).data.facts;
  await place.pai(["plan", "-y", "explain the tests"]);
  expect(requested(2)).not.toContain(note);

  expect((await place.pai(["memory", "accept", id])).stdout).toContain("accepted");
  await place.pai(["plan", "-y", "explain the tests again"]);
  expect(requested(3)).toContain(note);

  writeFileSync(join(place.root, "Makefile"), "test:\n\tfalse\n");
  await place.pai(["context", "explain the tests"]);
  expect((await place.pai(["memory"])).stdout).toBe("nothing is remembered of this project\n");
});

test.concurrent("what a person adds or changes holds no value that .env names", async () => {
  const value = "Zx9kQ2mR7tLp4VwA8sNd";
  await using place = openPlace([], { ".env": `DB_PASSWORD=${value}\n` });
  const added = await place.pai(["memory", "add", `tests log in with ${value}`]);
  const [{ id }] = JSON.parse((await place.pai(["memory", "--json"])).stdout).data.facts;
  const edited = await place.pai(["memory", "edit", id, `so they log in: ${value}`]);
  const listed = await place.pai(["memory", "--json"]);
  expect([added, edited, listed].map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(added.stdout + edited.stdout + listed.stdout).not.toContain(value);
  expect(listed.stdout).toMatch(/so they log in: <<SECRET_\w+>>/);
});

test.concurrent("without the setting nothing is asked for and nothing kept", async () => {
  await using place = openPlace([plan, script("x")]);
  await place.pai(["run", "-y", "write hello.txt"]);
  expect(JSON.stringify(place.gemini.requests)).not.toContain("REMEMBER: one fact");
  expect((await place.pai(["memory"])).stdout).toBe("nothing is remembered of this project\n");
  expect((await place.pai(["memory", "drop", "x"])).code).toBe(2);
});
