/** What others do outside while a command runs. */
import { expect } from "bun:test";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../../needs.ts";
import { confinedBy } from "./ways.ts";
import { testIn, type World } from "./world.ts";

/** Runs a command that says when it has begun, does something then, and gives what it says after that. */
async function during(world: World, act: () => void, command: string, sandbox: "in-place" | "proposal") {
  const { work, run, transaction } = world;
  const waits = "touch begun; n=0; while [ ! -e acted ] && [ $n -lt 3000 ]; do sleep 0.02; n=$((n+1)); done";
  // On a copy nobody outside sees what it writes; a moment is enough.
  const alone = "sleep 0.5";
  const running = run(`${sandbox === "proposal" ? alone : waits}; ${command}`, { sandbox });
  const until = performance.now() + (sandbox === "proposal" ? 250 : 60_000);
  while (performance.now() < until && !existsSync(join(work, "begun"))) await Bun.sleep(10);
  act();
  if (sandbox === "in-place") writeFileSync(join(work, "acted"), "");
  const result = await running;
  await transaction.drop(result.effects, null);
  return result;
}

/** As editors and tools save a file. */
function replace(path: string) {
  writeFileSync(`${path}.new`, "canary\n");
  renameSync(`${path}.new`, path);
}

for (const only of ["namespaces", "bubblewrap", "landlock"] as const) {
  needs(confinedBy(only)).describe(only, () => {
    const inside = testIn({ only });

    inside("a secret of the home that is replaced or made meanwhile is not seen", async (world) => {
      const home = join(world.base, "home");
      writeFileSync(join(home, ".npmrc"), "before\n");
      const act = () => {
        replace(join(home, ".npmrc"));
        replace(join(home, ".netrc"));
        renameSync(join(home, ".ssh"), join(home, "ssh-before"));
        mkdirSync(join(home, ".ssh"));
        writeFileSync(join(home, ".ssh/id_rsa"), "canary\n");
      };
      const look = "cat ~/.npmrc ~/.netrc ~/.ssh/id_rsa ~/ssh-before/id_rsa";
      expect((await during(world, act, look, "in-place")).output).not.toContain("canary");
    });

    inside("a tool that comes to the home later is there for the next command", async ({ base, run }) => {
      await run("true");
      mkdirSync(join(base, "home/.local/bin"), { recursive: true });
      writeFileSync(join(base, "home/.local/bin/tool"), "new\n");
      expect((await run("cat ~/.local/bin/tool")).output).toBe("new\n");
    });
  });
}

needs(confinedBy("namespaces")).describe("own namespaces", () => {
  const inside = testIn({ only: "namespaces" });

  inside("on a copy a secret of the project that is replaced meanwhile is not seen", async (world) => {
    const act = () => replace(join(world.work, ".env"));
    expect((await during(world, act, "cat .env", "proposal")).output).not.toContain("canary");
  });
});
