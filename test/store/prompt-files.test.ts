/** Commands and skills as files: how they are read, and that a project's wait for trust. */
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findPrompts, readProjectPrompts } from "../../src/store/prompt-files.ts";
import { setTrust } from "../../src/store/trust.ts";
import { type Home, makeHome, put } from "./temp-home.ts";

const inProject = ({ root }: Home, name: string, text: string) => put(join(root, ".pai", name), text, 0o644);
const namesOf = (home: Home) => findPrompts(home.places, home.root).files.map(({ kind, name }) => `${kind} ${name}`);

const key = ["sk-ant-api03", "Qm7Zt4Xp9Lw2Vb8N".repeat(5)].join("-");

test.each([
  ["Just a text.\n", "", "Just a text."],
  ["---\ndescription: in one line\n---\n\nBody.\n", "in one line", "Body."],
  ["\uFEFF---\r\nname: x\r\ndescription: 'quoted: too'\r\n---\r\nBody.\r\n", "quoted: too", "Body."],
  ["---\ndescription: >-\n  folded\n  over lines\nmodel: x\n---\nBody", "folded over lines", "Body"],
  ["---\nno head\n", "", "---\nno head"],
  ["text\n---\ndescription: no\n---\n", "", "text\n---\ndescription: no\n---"],
  [`---\ndescription: ${"x".repeat(300)}\n---\n`, "x".repeat(200), ""],
  [`---\ndescription: ${"x ".repeat(90)}${key}\n---\n`, expect.not.stringMatching(/api03|Qm7Z/), ""],
])("the head gives the description, the rest is the text: %j", (text, about, body) => {
  const home = makeHome();
  put(home.config("commands/a.md"), text);
  expect(findPrompts(home.places, home.root).files).toEqual([{ kind: "command", name: "a", path: null, about, body }]);
});

test("names are plain words; other files, folders, links of a project and texts that are too long do not count", () => {
  const home = makeHome();
  for (const name of ["ok.md", "UPPER.md", "two words.md", ".md", "..md", "a.txt", "sub/x.md"])
    inProject(home, `commands/${name}`, "x");
  inProject(home, "commands/long.md", "x".repeat(70_000));
  inProject(home, "skills/none/README.md", "x");
  symlinkSync("/etc/hostname", join(home.root, ".pai/commands/linked.md"));
  mkdirSync(join(home.root, ".pai/commands/folder.md"));
  expect(readProjectPrompts(home.root)?.files.map(({ name }) => name)).toEqual(["ok"]);
});

test("a project's wait for trust, which ends with any change of any of them", () => {
  const home = makeHome();
  inProject(home, "commands/ship.md", "Ship.\n");
  inProject(home, "skills/tables/SKILL.md", "Tables.\n");
  const look = () => findPrompts(home.places, home.root);
  expect([look().files, look().waiting, look().trust]).toEqual([[], ["ship", "tables"], "untrusted"]);
  setTrust(home.places, "prompts", home.root, readProjectPrompts(home.root)?.digest ?? "");
  expect([namesOf(home), look().waiting, look().trust]).toEqual([["command ship", "skill tables"], [], "trusted"]);
  inProject(home, "commands/new.md", "New.\n");
  expect([look().files, look().waiting, look().trust]).toEqual([[], ["new", "ship", "tables"], "changed"]);
});

test("the user's own comes before a project's of the same name", () => {
  const home = makeHome();
  inProject(home, "commands/ship.md", "Theirs.\n");
  put(home.config("commands/ship.md"), "Mine.\n");
  setTrust(home.places, "prompts", home.root, readProjectPrompts(home.root)?.digest ?? "");
  expect(findPrompts(home.places, home.root).files.map(({ body }) => body)).toEqual(["Mine."]);
});
