/** The line that says what is here: short, true to the files, and found without running anything. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeEnvironment } from "../../src/cli/compose/surroundings.ts";
import { finish, plan, write } from "../flows/plans.ts";
import { makeFolder, play, playIn } from "../flows/scripted.ts";
import { newFolder } from "../grounds.ts";

function openHere() {
  const root = newFolder("disk", "here");
  const bin = join(root, "usr/bin");
  mkdirSync(bin, { recursive: true });
  return { root, bin };
}

const program = "#!/bin/sh\nexit 1\n";

test("system, tools with the versions their names tell, and the package manager, on one line", () => {
  const { root, bin } = openHere();
  for (const name of ["python3.11", "gcc-12", "make", "node"]) writeFileSync(join(bin, name), program);
  symlinkSync("python3.11", join(bin, "python3"));
  symlinkSync("gcc-12", join(bin, "gcc"));
  const project = join(root, "project");
  mkdirSync(project);
  writeFileSync(join(project, "pnpm-lock.yaml"), "");
  const said = describeEnvironment({ PATH: `relative:${bin}` }, project);
  expect(said).toContain("; python 3.11, node, gcc 12, make; packages by pnpm");
  expect(said.length).toBeLessThanOrEqual(300);
  expect(said).not.toContain("\n");
});

test("what starts services, who runs pai without his name, and the server whose settings the folder holds", () => {
  const { root, bin } = openHere();
  const status = join(root, "status");
  const entry = (name: string, state: string) => `Package: ${name}\nStatus: ${state}\nVersion: 1:9.2p1-2\n\n`;
  writeFileSync(
    status,
    entry("ssh", "install ok installed") +
      entry("openssh-server", "install ok installed") +
      entry("nginx", "deinstall ok config-files"),
  );
  const said = (folder: string) => describeEnvironment({ PATH: bin }, folder, status);
  expect(said("/etc/ssh/sshd_config.d")).toStartWith("openssh-server 9.2p1-2; ");
  expect(said("/etc/nginx")).not.toContain("nginx");
  expect(said("/srv/ssh")).not.toContain("openssh");
  expect(said("/srv")).toMatch(process.geteuid?.() === 0 ? /run by root$/ : /run by an ordinary user$/);
});

test("a tool of the project itself does not count", () => {
  const { root, bin } = openHere();
  writeFileSync(join(bin, "go"), program);
  expect(describeEnvironment({ PATH: bin }, root)).not.toContain("go");
  expect(describeEnvironment({ PATH: bin }, join(root, "project"))).toContain("; go");
});

test("comes before the tree in the plan call", async () => {
  const lines = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "1\n") + finish()];
  const ran = await play({ lines, options: { environment: "Debian 12, x64; make" } });
  expect(ran.asked(1)).toStartWith("Here: Debian 12, x64; make\n\n<tree>");
});

test("with the branch behind it, and at most 300 characters in all", async () => {
  const place = makeFolder();
  const lines = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "1\n") + finish()];
  spawnSync("git", ["init", "-q", "-b", "a-branch"], { cwd: place.root });
  const ran = await playIn(place, { lines, options: { environment: `Debian 12, ${"tool, ".repeat(80)}` } });
  const [line = ""] = ran.asked(1).split("\n");
  expect(line).toMatch(/^Here: Debian 12, tool, .*; git branch a-branch, no commit yet$/);
  expect(line.length).toBeLessThanOrEqual(300);
});
