/** The key of a run in any spelling: in nothing that pai shows or writes down, whatever a command prints. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openPlace, readTree } from "../harness.ts";
import { openRaw } from "../raw.ts";
import { done, hello, planned } from "../replies.ts";

/** No key by its looks: only who holds it knows it. */
const key = "local+secret/value-4711-for-tests";
const bytes = Buffer.from(key);
const spellings = [
  key,
  encodeURIComponent(key),
  bytes.toString("hex"),
  bytes.toString("base64"),
  Buffer.from(`x${key}y`).toString("base64url"),
];

test.concurrent.each(["", "--json", "--jsonl", "--verbose"])("a run %s", async (flag) => {
  const said = ["plain", "url", "hex", "base64", "base64url"].map((name, at) => `${name} ${spellings[at]}`).join("\n");
  const command = "cat said.txt";
  await using place = openPlace(
    [planned([["RUN", command]], { checks: [`echo ${spellings[2]}`] }), done(`RUN::${command}\n`, said)],
    {
      "said.txt": said,
    },
  );
  const args = [
    "run",
    "-y",
    "--allow-run",
    "--check",
    `echo ${spellings[3]}; false`,
    ...(flag === "" ? [] : [flag]),
    `explain ${said}`,
  ];
  const { stdout, stderr } = await place.pai(args, { env: { GEMINI_API_KEY: key } });
  expect(stdout + stderr).toContain("<<SECRET_");
  const written = { ...readTree(place.home), ...readTree(join(place.root, ".pai_history")) };
  expect(JSON.stringify(written)).toMatch(/plain <<SECRET_/);
  const everything = Object.entries({ ...written, stdout, stderr });
  const found = everything.flatMap(([where, text]) =>
    spellings.filter((spelling) => text.includes(spelling)).map((spelling) => `${spelling} in ${where}`),
  );
  expect(found).toEqual([]);
});

test.concurrent("what can be undone is listed without the keys of its task", async () => {
  const other = "ghp_9aZ8bY7cX6dW5eV4fU3gT2hS1iR0jQ9kP8lO";
  await using place = openPlace(hello);
  await place.pai(["run", "-y", `make hello.txt for ${key} and ${other}`], { env: { GEMINI_API_KEY: key } });
  const { stdout } = await place.pai(["history"]);
  expect(stdout).toMatch(/make hello.txt for <<SECRET_\w+>> and <<SECRET_\w+>>/);
  const written = JSON.stringify([readTree(place.home), readTree(join(place.root, ".pai_history"))]);
  expect([written.includes(key), written.includes(other)]).toEqual([false, false]);
});

test.concurrent("a draft that is kept as the terminal closes", async () => {
  await using place = openPlace();
  const raw = openRaw(place, [], { GEMINI_API_KEY: key });
  await raw.sees("pai> ");
  raw.type(`use ${key} now`);
  await raw.sees("now");
  raw.close();
  await raw.exited;
  const written = JSON.stringify(readTree(place.home));
  expect(written).toMatch(/use <<SECRET_\w+>> now/);
  expect(written).not.toContain(key);
});
