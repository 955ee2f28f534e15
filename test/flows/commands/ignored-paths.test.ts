/** What a check does in ignored paths that the run made goes back with it; the rest of what commands do there is in effects.md. */
import { expect, test } from "bun:test";
import { finish, plan } from "../plans.ts";
import { play } from "../scripted.ts";

const files = {
  ".gitignore": "dist/\nnode_modules/\n*.csv\n*.log\nnotes/\n",
  "a.txt": "one\n",
  "kept.csv": "1\n",
  "notes/mine.txt": "mine\n",
  "dist/out.js": "old\n",
  "old.log": "log\n",
};
const lines = (command: string) => [
  plan({ steps: [`RUN ${command}`] }),
  `RUN::${command}\n${finish()}`,
  finish("It could not be."),
  finish("It could not be."),
];
const run = (command: string, options = {}) =>
  play({ files, lines: lines(command), options: { allowRun: true, ...options } });

test("what a check of the user does to ignored files of the run is the run's, and goes back with it", async () => {
  const ran = await run("echo n > new.csv", { checks: ["echo checked >> new.csv; false"] });
  expect(ran.files).toEqual(files);
  expect(ran.eventsOf("notice").filter(({ code }) => code === "left_in_place")).toEqual([]);
  const other = await run("echo n > a.txt", { checks: ["echo checked >> kept.csv; false"] });
  expect(other.outcome).toMatchObject({ changes: [], stays: { count: 1, paths: ["kept.csv"] } });
});
