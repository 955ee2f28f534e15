/** The instructions for agents that a task follows: from outside the project, at its root, and in folders that the plan touches. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOuterGuides } from "../../../src/cli/compose/surroundings.ts";
import { newFolder } from "../../grounds.ts";
import { finish, modify, planTo } from "../plans.ts";
import { play } from "../scripted.ts";

const work = modify("web/api/a.py", ["x = 1\n", "x = 2\n"]) + finish();
const lines = [planTo("MODIFY web/api/a.py"), work];
const rules = { "web/AGENTS.md": "web rule\n", "web/api/CLAUDE.md": "api rule\n", "ops/AGENTS.md": "ops rule\n" };
const files = { "web/api/a.py": "x = 1\n", ...rules };
/** More files than a request shows whole. */
const fillers = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`docs/page${n}.txt`, "nothing\n"]));
const guides = [
  { path: "/home/me/.config/pai-code/AGENTS.md", text: "own rule\n" },
  { path: "/home/me/repo/AGENTS.md", text: "repository rule\n" },
];

test("go from the user's own down to the folder of the change, the nearest last, and the plan says which", async () => {
  const all = { ...fillers, ...files, "AGENTS.md": "root rule\n" };
  const played = await play({ files: all, lines, options: { guides } });
  const first = played.asked(1);
  expect(first.indexOf("own rule")).toBeLessThan(first.indexOf("repository rule"));
  expect(first.indexOf("repository rule")).toBeLessThan(first.indexOf("root rule"));
  expect(first).not.toContain("api rule");
  const second = played.asked(2);
  expect(second.indexOf("web rule")).toBeGreaterThan(-1);
  expect(second.indexOf("web rule")).toBeLessThan(second.indexOf("api rule"));
  expect(second).not.toContain("ops rule");
  const named = [...guides.map(({ path }) => path), "AGENTS.md", "web/AGENTS.md", "web/api/CLAUDE.md"];
  expect(played.eventsOf("plan.ready")[0]?.guides).toEqual(named);
});

test("have 8 KB together, and the nearest get theirs first", async () => {
  const far = { path: "/repo/AGENTS.md", text: `far ${"f".repeat(7_000)}` };
  const given = { ...fillers, ...files, "AGENTS.md": `near ${"n".repeat(5_000)}` };
  const { asked } = await play({ files: given, lines, options: { guides: [far] } });
  expect(asked(1)).toContain("n".repeat(5_000));
  expect(asked(1)).toContain("f".repeat(2_000));
  expect(asked(1)).not.toContain("f".repeat(3_000));
  expect(asked(2)).not.toContain("web rule");
});

test("are read from the repository's root down to above the folder, and no link and no stranger's repository is followed", () => {
  const place = newFolder("disk", "guides");
  const at = (path: string) => join(place, path);
  for (const folder of ["config", "repo/.git", "repo/a/b", "lone/x"]) mkdirSync(at(folder), { recursive: true });
  writeFileSync(at("config/AGENTS.md"), "own");
  writeFileSync(at("repo/CLAUDE.md"), "repo");
  writeFileSync(at("repo/a/AGENTS.md"), "a");
  writeFileSync(at("repo/a/b/AGENTS.md"), "b");
  writeFileSync(at("lone/AGENTS.md"), "lone");
  const read = (config: string | null, root: string) => readOuterGuides(config, root).map(({ text }) => text);
  expect(read(at("config"), at("repo/a/b"))).toEqual(["own", "repo", "a"]);
  expect(read(null, at("repo"))).toEqual([]);
  expect(read(null, at("lone/x"))).toEqual([]);
  rmSync(at("repo/a/AGENTS.md"));
  writeFileSync(at("secret"), "secret");
  symlinkSync(at("secret"), at("repo/a/AGENTS.md"));
  expect(read(null, at("repo/a/b"))).toEqual(["repo"]);
  chmodSync(at("repo/CLAUDE.md"), 0);
  if (process.getuid?.() !== 0) expect(read(null, at("repo/a/b"))).toEqual([]);
});
