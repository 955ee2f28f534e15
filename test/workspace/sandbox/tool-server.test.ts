/** A server of tools in the sandbox: at every level that starts one it can change nothing of the project. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSandbox, type SandboxSettings } from "../../../src/workspace/sandbox/settings.ts";
import { newFolder, removeFolder } from "../../grounds.ts";
import { type Need, needs, seenInside } from "../../needs.ts";
import { openBare } from "../bare.ts";
import { confinedBy } from "./ways.ts";

const path = "/usr/bin:/bin";

/** Opens a workspace of two files, held at a level, and gives it away afterwards. */
async function inProject<T>(
  settings: Partial<SandboxSettings>,
  use: (opened: Awaited<ReturnType<typeof openBare>>, work: string) => Promise<T>,
): Promise<T> {
  // Not below /tmp: Landlock alone opens nothing there that has a secret beside it.
  const base = newFolder("checkout", "tool");
  try {
    const work = join(base, "work");
    mkdirSync(work);
    writeFileSync(join(work, "a.txt"), "one\n");
    writeFileSync(join(work, ".env"), "TOKEN=secret\n");
    const sandbox = { ...defaultSandbox, ...settings };
    return await use(await openBare(work, join(base, "state"), { env: { PATH: path }, sandbox }), work);
  } finally {
    removeFolder(base);
  }
}

for (const only of ["namespaces", "bubblewrap", "landlock"] as const) {
  needs(confinedBy(only), ...(only === "landlock" ? [seenInside] : [])).test(
    `${only}: a server of tools reads the project, and neither changes it nor reads its secrets`,
    () =>
      inProject({ only }, async ({ startTool }, work) => {
        const script = "cat a.txt .env; echo x > b.txt; echo y > a.txt; rm a.txt; mkdir d; echo end";
        const server = await startTool({ argv: ["sh", "-c", script], env: { PATH: path } }, false);
        expect(await new Response(server.input).text()).toBe("one\nend\n");
        expect(readdirSync(work).sort()).toEqual([".env", "a.txt"]);
        expect(readFileSync(join(work, "a.txt"), "utf8")).toBe("one\n");
      }),
  );
}

needs(confinedBy("namespaces")).test("what a server wrote is told once, and its last words", () =>
  inProject({ only: "namespaces" }, async ({ startTool }) => {
    const script = `mkdir d; echo x > d/b.txt; rm a.txt; echo ready; read line; echo y > d/b.txt; echo ready; read line
        echo not set: TOKEN >&2; exit 3`;
    const server = await startTool({ argv: ["sh", "-c", script], env: { PATH: path } }, false);
    const reader = server.input.getReader();
    const isReady = async () => new TextDecoder().decode((await reader.read()).value);
    expect([await isReady(), server.takeWritten()]).toEqual(["ready\n", ["a.txt", "d/b.txt"]]);
    expect(server.takeWritten()).toEqual([]);
    server.write("on\n");
    expect([await isReady(), server.takeWritten()]).toEqual(["ready\n", ["d/b.txt"]]);
    server.write("on\n");
    expect(await server.explain()).toBe(", exit 3; it said on standard error:\nnot set: TOKEN");
  }),
);

const belowTmp: Need = { name: "a TMPDIR below /tmp", isHere: tmpdir().startsWith("/tmp/") };
needs(confinedBy("namespaces"), seenInside, belowTmp).test(
  "a program below /tmp is named: the server has an empty one",
  async () => {
    const folder = newFolder("disk", "tool");
    writeFileSync(join(folder, "server.sh"), "echo hi\n");
    await inProject({ only: "namespaces" }, async ({ startTool }) => {
      const server = await startTool({ argv: ["sh", join(folder, "server.sh")], env: { PATH: path } }, false);
      const why = await server.explain();
      expect(why).toContain(`${folder}/server.sh lies in a folder of which a server has an empty one`);
      expect(why).toMatch(/^, exit \d+; [^\n]+\n.*server\.sh/);
      const here = await startTool({ argv: ["sh", "-c", "exit 1"], env: { PATH: path } }, false);
      expect(await here.explain()).toBe(", exit 1");
    });
  },
);

test("a program that is not in PATH is named; without a sandbox none is started", async () => {
  const start = (sandbox: Partial<SandboxSettings>, name: string) =>
    inProject(sandbox, ({ startTool }) => startTool({ argv: [name], env: {} }, false).catch((thrown) => thrown));
  expect((await start({}, "no-such-server")).message).toBe("no-such-server was not found in PATH");
  expect((await start({ choice: "off" }, "sh")).code).toBe("sandbox_missing");
});
