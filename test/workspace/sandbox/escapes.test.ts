/** Ways out that were found by somebody who looked for them, each closed. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { hasOwnProcessLimit } from "../../../src/workspace/sandbox/namespaces.ts";
import { has, inWorld } from "./world.ts";

for (const only of ["L3", "L3b"] as const) {
  describe.skipIf(!has(only))(only, () => {
    test("a folder with a secret or a repository stays closed wherever a command moves it", () =>
      inWorld({ only }, async ({ work, run }) => {
        mkdirSync(join(work, "config"));
        writeFileSync(join(work, "config/.env"), "KEY=canary\n");
        const decoys = "mkdir config sub; touch config/.env; mkdir sub/.git";
        const moved = `mkdir node_modules node_modules/x; mv config node_modules/x/c; mv sub node_modules/x/s; ${decoys}`;
        expect((await run(moved)).exit).toBe(0);
        for (let n = 0; n < 2; n += 1) {
          const { output } = await run(
            "cat node_modules/x/c/.env; echo evil >> node_modules/x/s/.git/config && echo got in",
          );
          expect(output).not.toMatch(/canary|got in/);
        }
      }));

    test("secrets right inside folders that are not looked through are hidden too", () =>
      inWorld({ only }, async ({ work, run }) => {
        for (const folder of ["node_modules", ".venv", ".vscode"]) {
          mkdirSync(join(work, folder));
          writeFileSync(join(work, folder, ".env"), "KEY=canary\n");
        }
        expect((await run("cat */.env .*/.env")).output).not.toContain("canary");
      }));
    test("what a command says can be said to /dev/stdout and /dev/stderr, too", () =>
      inWorld({ only }, async ({ run }) => {
        expect((await run("echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr")).output).toBe(
          "a\nb\nc\nc\n",
        );
        expect((await run("sleep 5 & echo at once")).output).toBe("at once\n");
      }));
  });
}

describe.skipIf(!has("L3"))("L3", () => {
  test("hidden files that a command names are told", () =>
    inWorld({ only: "L3" }, async ({ base, run }) => {
      const said = "echo 'cannot read ./.env: empty'; cat ~/.ssh/id_rsa 2>/dev/null; echo HOME/.ssh a.txt environment";
      expect((await run(said, { sandbox: "throwaway" })).hidden).toEqual([".env"]);
      expect((await run(`echo ${base}/home/.ssh`, { sandbox: "throwaway" })).hidden).toEqual([`${base}/home/.ssh`]);
    }));

  test("no user has more than 8,192 processes in a sandbox, root neither", () =>
    inWorld({ only: "L3" }, async ({ run }) => {
      const most = (await run("cat /proc/sys/kernel/pid_max")).output.trim();
      expect(hasOwnProcessLimit("6.13.9-arch") || !hasOwnProcessLimit("6.14.0-rc1")).toBe(false);
      if (hasOwnProcessLimit(release())) expect(most).toBe("8192");
      expect((await run("echo 99999 > /proc/sys/kernel/pid_max")).exit).not.toBe(0);
    }));

  test("a mount below the project is shown on a copy and only read there; what is closed in it stays closed", async () => {
    if (process.getuid?.() !== 0) return;
    await inWorld({ only: "L3" }, async ({ base, work, run }) => {
      mkdirSync(join(base, "volume/.git"), { recursive: true });
      mkdirSync(join(work, "mounted"));
      writeFileSync(join(base, "volume/.env"), "KEY=canary\n");
      writeFileSync(join(base, "volume/file"), "theirs\n");
      if (!Bun.spawnSync(["mount", "--bind", join(base, "volume"), join(work, "mounted")]).success) return;
      try {
        for (const sandbox of ["in-place", "proposal"] as const) {
          const command =
            "cat mounted/file mounted/.env; echo x > mounted/.git/config; echo more >> mounted/file && echo wrote";
          const result = await run(command, { sandbox });
          expect([result.level, result.output.includes("theirs"), result.output.includes("canary")]).toEqual([
            "L3",
            true,
            false,
          ]);
          expect(existsSync(join(base, "volume/.git/config"))).toBe(false);
          expect(result.output.includes("wrote")).toBe(sandbox === "in-place");
          result.proposal?.discard();
        }
      } finally {
        Bun.spawnSync(["umount", join(work, "mounted")]);
      }
    });
  });
});

describe.skipIf(!has("L3b"))("L3b", () => {
  test("nothing is written any more when a command has ended", () =>
    inWorld({ only: "L3b" }, async ({ work, run }) => {
      const writer = "(setsid sh -c 'while :; do echo $$ >> tick; done' >/dev/null 2>&1 &); sleep 0.05";
      await run(writer);
      const size = statSync(join(work, "tick")).size;
      await Bun.sleep(100);
      expect(statSync(join(work, "tick")).size).toBe(size);
    }));
});

describe.skipIf(!has("L2"))("L2", () => {
  test.skipIf(Bun.which("prlimit") === null)("the limits of pai are its own", () =>
    inWorld({ only: "L2" }, async ({ run }) => {
      expect((await run(`prlimit --pid ${process.pid} --cpu`)).exit).not.toBe(0);
      expect((await run("ulimit -n 512 && ulimit -n")).output).toBe("512\n");
    }),
  );

  test("with the network there are no sockets of this machine where a powerful service listens", () =>
    inWorld({ only: "L2", network: true }, async ({ base, run }) => {
      const connect = `bash -c 'command -v python3 >/dev/null || exit 9; python3 -c "import socket; socket.socket(socket.AF_UNIX)"'`;
      if ((await run("command -v python3")).exit !== 0) return;
      const server = Bun.listen({ unix: join(base, "docker.sock"), socket: { data() {} } });
      try {
        expect((await run(connect)).output).toContain("Address family not supported");
      } finally {
        server.stop(true);
      }
    }));
});
