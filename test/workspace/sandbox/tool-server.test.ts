/** A server of tools in the sandbox: at every level that starts one it can change nothing of the project. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxLevel } from "../../../src/core/command/sandbox.ts";
import { defaultSandbox } from "../../../src/workspace/sandbox/settings.ts";
import { openBare } from "../bare.ts";

const repository = join(import.meta.dir, "../../..");
const path = "/usr/bin:/bin";

/** Opens a workspace of two files, held at a level, and gives it away afterwards. */
async function inProject<T>(
  only: SandboxLevel,
  use: (opened: Awaited<ReturnType<typeof openBare>>, work: string) => Promise<T>,
): Promise<T> {
  mkdirSync(join(repository, "dist"), { recursive: true });
  // Not below /tmp: L2 opens nothing there that has a secret beside it.
  const base = mkdtempSync(join(repository, "dist/.tool-"));
  try {
    const work = join(base, "work");
    mkdirSync(work);
    writeFileSync(join(work, "a.txt"), "one\n");
    writeFileSync(join(work, ".env"), "TOKEN=secret\n");
    const sandbox = { ...defaultSandbox, only };
    return await use(await openBare(work, join(base, "state"), { env: { PATH: path }, sandbox }), work);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

const isBelowTmp = repository.startsWith("/tmp/");
for (const only of ["L3", "L3b", "L2"] as const) {
  const has = await inProject(only, async ({ workspace }) => (await workspace.sandbox()).level === only);
  test.skipIf(!has || (only === "L2" && isBelowTmp))(
    `${only}: a server of tools reads the project, and neither changes it nor reads its secrets`,
    () =>
      inProject(only, async ({ startTool }, work) => {
        const script = "cat a.txt .env; echo x > b.txt; echo y > a.txt; rm a.txt; mkdir d; echo end";
        const server = await startTool({ argv: ["sh", "-c", script], env: { PATH: path } }, false);
        expect(await new Response(server.input).text()).toBe("one\nend\n");
        expect([readdirSync(work).sort(), readFileSync(join(work, "a.txt"), "utf8")]).toEqual([
          [".env", "a.txt"],
          "one\n",
        ]);
      }),
  );
}

test("a program that is not in PATH is named; at L1 none is started", async () => {
  const start = (only: SandboxLevel, name: string) =>
    inProject(only, ({ startTool }) => startTool({ argv: [name], env: {} }, false).catch((thrown) => thrown));
  expect((await start("L3", "no-such-server")).message).toBe("no-such-server was not found in PATH");
  expect((await start("L1", "sh")).code).toBe("sandbox_missing");
});
