/** Ways out that were found by somebody who looked for them, each closed. */
import { expect } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { hasOwnProcessLimit } from "../../../src/workspace/sandbox/namespaces.ts";
import { mounts, needs, rootUser } from "../../needs.ts";
import { confinedBy, has, python } from "./ways.ts";
import { inWorld, testIn } from "./world.ts";

for (const only of ["namespaces", "bubblewrap"] as const) {
  needs(confinedBy(only)).describe(only, () => {
    const inside = testIn({ only });

    inside("a folder with a secret or a repository in it cannot be moved away", async ({ work, run }) => {
      mkdirSync(join(work, "config/deep"), { recursive: true });
      writeFileSync(join(work, "config/deep/.env"), "KEY=canary\n");
      mkdirSync(join(work, "node_modules/x"), { recursive: true });
      const ways = ["mv config node_modules/x/c", "mv config/deep d", "mv sub node_modules/x/s", "rm -r config"];
      for (const away of ways) expect([away, (await run(away)).exit === 0]).toEqual([away, false]);
      const own = "mkdir config/new && mv config/new config/n && echo f > config/n/f && mv config/n/f f";
      expect((await run(own)).exit).toBe(0);
      const { output } = await run("cat config/deep/.env; echo evil >> sub/.git/config && echo got in");
      expect(output).not.toMatch(/canary|got in/);
    });

    inside("a folder that cannot be listed is closed", async ({ work, run }) => {
      mkdirSync(join(work, "config"));
      writeFileSync(join(work, "config/.env"), "KEY=canary\n");
      chmodSync(join(work, "config"), 0);
      const { output } = await run("chmod 700 config; cat config/.env");
      // Root can list everything, so that only the secret is hidden.
      expect(output).not.toContain("canary");
      chmodSync(join(work, "config"), 0o700);
    });

    needs(python).test("a folder deeper than any path is closed", () =>
      inWorld({ only }, async ({ run }) => {
        const deep = "import os\nfor n in range(20): os.mkdir('d' * 240); os.chdir('d' * 240)\n";
        expect((await run(`mkdir c; python3 -c "${deep}open('.env', 'w').write('canary')"`)).exit).toBe(0);
        const find = "import os\nfor n in range(20): os.chdir('d' * 240)\nprint(open('.env').read())";
        expect((await run(`python3 -c "${find}"`)).output).not.toContain("canary\n");
      }),
    );

    inside("links and files that look like a repository do not change what holds", async ({ work, run }) => {
      symlinkSync("/nowhere", join(work, ".hg"));
      mkdirSync(join(work, "p"));
      mkdirSync(join(work, "src"));
      writeFileSync(join(work, "p/.git"), "gitdir: ../src\n");
      const { held, output } = await run("cat .env; echo x > src/file && cat src/file");
      expect([held.level, output.includes("canary"), output.includes("x")]).toEqual(["full", false, true]);
    });

    inside("a secret that is a pipe is hidden", async ({ work, run }) => {
      rmSync(join(work, ".env"));
      Bun.spawnSync(["mkfifo", join(work, ".env")]);
      const { output } = await run("timeout 2 cat .env; test -p .env && echo pipe; echo end");
      expect(output).toMatch(/^(?!.*pipe).*end\n$/s);
    });

    inside("no core of a crash is handed to a program of the host", async ({ run }) => {
      expect((await run("cat /proc/self/limits | grep core")).output).toMatch(/core file size +1 +1 +bytes/);
    });

    inside("secrets of the repository that holds the project are hidden", async ({ base, work, run }) => {
      rmSync(join(work, ".git"), { recursive: true });
      mkdirSync(join(base, ".git"));
      writeFileSync(join(base, ".env"), "KEY=canary\n");
      expect((await run("cat ../outside.txt ../.env")).output).not.toContain("canary");
    });

    inside("secrets right inside folders that are not looked through are hidden too", async ({ work, run }) => {
      for (const folder of ["node_modules", ".venv", ".vscode"]) {
        mkdirSync(join(work, folder));
        writeFileSync(join(work, folder, ".env"), "KEY=canary\n");
      }
      expect((await run("cat */.env .*/.env")).output).not.toContain("canary");
    });
    inside("a command can write to /dev/stdout and /dev/stderr, too", async ({ run }) => {
      const { output } = await run("echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr");
      expect(output).toBe("a\nb\nc\nc\n");
      expect((await run("sleep 5 & echo at once")).output).toBe("at once\n");
    });
  });
}

needs(confinedBy("namespaces")).describe("own namespaces", () => {
  const inside = testIn({ only: "namespaces" });

  inside("hidden files that a command names are reported", async ({ base, run }) => {
    const said = "echo 'cannot read ./.env: empty'; cat ~/.ssh/id_rsa 2>/dev/null; echo HOME/.ssh a.txt environment";
    expect((await run(said, { sandbox: "throwaway" })).held.hidden).toEqual([".env"]);
    expect((await run(`echo ${base}/home/.ssh`, { sandbox: "throwaway" })).held.hidden).toEqual([`${base}/home/.ssh`]);
  });

  inside("no user has more than 8,192 processes in a sandbox, root neither", async ({ run }) => {
    const most = (await run("cat /proc/sys/kernel/pid_max")).output.trim();
    expect(hasOwnProcessLimit("6.13.9-arch") || !hasOwnProcessLimit("6.14.0-rc1")).toBe(false);
    if (hasOwnProcessLimit(release())) expect(most).toBe("8192");
    expect((await run("echo 99999 > /proc/sys/kernel/pid_max")).exit).not.toBe(0);
  });

  needs(mounts).test(
    "a mount below the project is shown on a copy and only read there, but for what is closed",
    async () => {
      await inWorld({ only: "namespaces" }, async ({ base, work, run, transaction }) => {
        mkdirSync(join(base, "volume/.git"), { recursive: true });
        mkdirSync(join(work, "mounted"));
        writeFileSync(join(base, "volume/.env"), "KEY=canary\n");
        writeFileSync(join(base, "volume/file"), "theirs\n");
        expect(Bun.spawnSync(["mount", "--bind", join(base, "volume"), join(work, "mounted")]).success).toBe(true);
        try {
          for (const sandbox of ["in-place", "proposal"] as const) {
            const looks = "cat mounted/file mounted/.env; echo x > mounted/.git/config";
            const { held, output, effects } = await run(`${looks}; echo more >> mounted/file && echo wrote`, {
              sandbox,
            });
            expect([held.level, output.includes("theirs"), output.includes("canary")]).toEqual(["full", true, false]);
            expect(existsSync(join(base, "volume/.git/config"))).toBe(false);
            expect(output.includes("wrote")).toBe(sandbox === "in-place");
            await transaction.drop(effects, null);
          }
        } finally {
          Bun.spawnSync(["umount", join(work, "mounted")]);
        }
      });
    },
  );
});

needs(mounts).test("what is hidden is hidden at the other mount points of its file system, too", async () => {
  for (const only of ["namespaces", "bubblewrap", "landlock"] as const) {
    if (!has(only)) continue;
    await inWorld({ only }, async ({ base, run }) => {
      const second = join(base, "second");
      mkdirSync(second);
      expect(Bun.spawnSync(["mount", "--bind", base, second]).success).toBe(true);
      try {
        const inside = only === "landlock" ? "" : "second/work/.env ";
        const { output } = await run(`cd ..; cat ${inside}second/home/.ssh/id_rsa; ls second/state`);
        expect([only, output.includes("canary"), output.includes("runs")]).toEqual([only, false, false]);
      } finally {
        Bun.spawnSync(["umount", second]);
      }
    });
  }
});

needs(confinedBy("bubblewrap")).describe("bubblewrap", () => {
  const inside = testIn({ only: "bubblewrap" });

  inside("nothing is written any more when a command has ended", async ({ work, run }) => {
    const writer = "(setsid sh -c 'while :; do echo $$ >> tick; done' >/dev/null 2>&1 &); sleep 0.05";
    await run(writer);
    const size = statSync(join(work, "tick")).size;
    await Bun.sleep(100);
    expect(statSync(join(work, "tick")).size).toBe(size);
  });
});

/** What comes of a command that connects to a service of the user in this folder, by default beside the project. */
async function reach(readable: readonly string[], folder: string | null = null): Promise<string> {
  let said = "";
  await inWorld({ only: "namespaces", network: true, readable }, async ({ base, run }) => {
    const path = join(folder ?? base, "manager.sock");
    const server = Bun.listen({ unix: path, socket: { data() {} } });
    const connect = `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("${path}"); print("reached")'`;
    said = (await run(connect)).output.trim().split("\n").at(-1) ?? "";
    server.stop(true);
  });
  return said;
}

needs(confinedBy("namespaces"), python).test(
  "with the network a service of the user is closed unless named",
  async () => {
    expect(await reach([])).toContain("refused");
    expect(await reach(["../manager.sock"])).toBe("reached");
  },
);

needs(confinedBy("namespaces"), python, rootUser).test("a service below /run is there if it is named", async () => {
  const folder = `/run/pai-test-${crypto.randomUUID()}`;
  mkdirSync(folder);
  expect(await reach([], folder)).toContain("No such file");
  expect(await reach([`${folder}/manager.sock`], folder)).toBe("reached");
});

needs(confinedBy("landlock")).describe("Landlock alone", () => {
  needs("prlimit").test("the limits of pai are its own", () =>
    inWorld({ only: "landlock" }, async ({ run }) => {
      expect((await run(`prlimit --pid ${process.pid} --cpu`)).exit).not.toBe(0);
      expect((await run("ulimit -n 512 && ulimit -n")).output).toBe("512\n");
    }),
  );

  needs(python).test("with the network there are no sockets of this machine where a powerful service listens", () =>
    inWorld({ only: "landlock", network: true }, async ({ base, run }) => {
      const connect = 'python3 -c "import socket; socket.socket(socket.AF_UNIX)"';
      const server = Bun.listen({ unix: join(base, "docker.sock"), socket: { data() {} } });
      try {
        expect((await run(connect)).output).toContain("Address family not supported");
      } finally {
        server.stop(true);
      }
    }),
  );
});
