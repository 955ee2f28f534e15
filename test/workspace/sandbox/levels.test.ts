/** What each level lets a command do, on this machine: what it has not got is skipped. */
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { explainWall, type Failed } from "../../../src/core/command/sandbox.ts";
import { sweepScratch } from "../../../src/workspace/sandbox/find-level.ts";
import { newFolder } from "../../grounds.ts";
import { needs } from "../../needs.ts";
import { oddTime, wakes } from "../../processes.ts";
import { confinedBy, has } from "./ways.ts";
import { inWorld, testIn } from "./world.ts";

const network = "exec 3<>/dev/tcp/127.0.0.1/1";

for (const only of ["namespaces", "bubblewrap"] as const) {
  needs(confinedBy(only)).describe(only, () => {
    const inside = testIn({ only });

    inside("the project is writable, everything else is not", async ({ base, work, run }) => {
      expect((await run("echo b > b.txt; mkdir d; mv b.txt d; cat d/b.txt")).output).toBe("b\n");
      // Where the checkout lies in the home, the command sees an empty folder instead, and may fill that.
      const isHidden = (await run(`ls ${base}/outside.txt`)).exit !== 0;
      for (const attack of [
        `echo x > ${base}/outside.txt`,
        `echo x > ${base}/new.txt`,
        `ln ${base}/outside.txt l && echo x > l`,
        `ln -s ${base}/outside.txt s && echo x > s`,
        `chmod 777 ${base}/outside.txt`,
        `touch ${base}/outside.txt`,
        `mv a.txt ${base}/gone.txt`,
        "echo x >> .git/config",
        "echo ../evil > .git/commondir",
        "mv .git g",
        "echo x >> sub/.git/config",
      ]) {
        if (isHidden && attack.startsWith("mv a.txt")) continue;
        const { exit } = await run(attack);
        if (!isHidden || !attack.includes(base)) expect([attack, exit === 0]).toEqual([attack, false]);
      }
      expect(readFileSync(join(base, "outside.txt"), "utf8")).toBe("theirs\n");
      expect(readdirSync(base).sort()).toEqual(["home", "outside.txt", "state", "work"]);
      expect(existsSync(join(work, "a.txt"))).toBe(true);
    });

    inside("secrets are not there, under other names neither", async ({ base, work, run }) => {
      linkSync(join(work, ".env"), join(work, "config.txt"));
      symlinkSync(join(base, "home/.ssh/id_rsa"), join(work, "key.txt"));
      for (const look of ["cat .env", "cat config.txt", "cat key.txt", "cat ~/.ssh/id_rsa", "env", "ls ~/.ssh"]) {
        const { output } = await run(`${look}; cat /proc/*/environ`);
        expect([look, output.includes("canary")]).toEqual([look, false]);
      }
      expect((await run(`ls -A ${base}/state 2>/dev/null`)).output).toBe("");
    });

    inside("the home is closed but for tools and caches without credentials", async ({ base, run }) => {
      const home = join(base, "home");
      const name = crypto.randomUUID().replaceAll("-", "");
      mkdirSync(join(home, `.config/${name}`), { recursive: true });
      mkdirSync(join(home, ".cargo"));
      mkdirSync(join(home, ".local/bin"), { recursive: true });
      for (const path of [name, `.${name}`, `.config/${name}/token`, ".cargo/credentials.toml"])
        writeFileSync(join(home, path), "AKIAQ3EGRTMZ7L2KXW5D\n");
      writeFileSync(join(home, ".local/bin/tool"), "#!/bin/sh\necho tool\n", { mode: 0o755 });
      writeFileSync(join(home, ".cargo/registry"), "known\n");
      const looks = [
        `cat ~/${name} ~/.${name} ~/.config/${name}/token`,
        "cat ~/.cargo/credentials.toml",
        "grep -rs AKIA ~",
      ];
      for (const look of looks) expect([look, (await run(look)).output.includes("AKIA")]).toEqual([look, false]);
      expect((await run("~/.local/bin/tool; cat ~/.cargo/registry")).output).toBe("tool\nknown\n");
      await run("echo x > ~/.profile; echo x > ~/.local/bin/new; echo x > ~/.cargo/new");
      expect([".profile", ".local/bin/new", ".cargo/new"].filter((path) => existsSync(join(home, path)))).toEqual([]);
      const asked = await run(`cat ~/${name}; true`, { sandbox: "throwaway" });
      if (only === "namespaces") expect(asked.held.hidden).toEqual([join(home, name)]);
    });

    inside("a public certificate is there, a key with the same ending is not", async ({ work, run }) => {
      writeFileSync(join(work, "site.pem"), "-----BEGIN CERTIFICATE-----\nMII\n");
      writeFileSync(join(work, "key.pem"), "-----BEGIN PRIVATE KEY-----\nMII\n");
      expect((await run("cat *.pem 2>/dev/null")).output).toBe("-----BEGIN CERTIFICATE-----\nMII\n");
    });

    inside("the private /run can be written, and nothing of it stays", async ({ run }) => {
      const { output } = await run("mkdir -p /run/pai-test && echo 1 > /run/pai-test.pid && cat /run/pai-test.pid");
      expect(output).toBe("1\n");
      expect(existsSync("/run/pai-test.pid")).toBe(false);
    });

    inside("there is a network of its own, without a way out, and no other process", async ({ run }) => {
      expect((await run("cat /proc/net/dev | grep -c :")).output).toBe("1\n");
      expect((await run(`kill -0 ${process.pid}`)).exit).not.toBe(0);
      expect((await run("ls /proc | grep -c '^[0-9]*$'")).output.trim().length).toBe(1);
      expect((await run("echo x > /tmp/x; cat /tmp/x; ls /tmp")).output).toBe("x\nx\n");
    });

    if (only === "namespaces")
      inside("nothing survives, whatever it does against being ended", async ({ run }) => {
        const time = oddTime(600);
        const deaf = `trap '' TERM HUP INT; setsid sh -c 'trap "" TERM; sleep ${time}' & `;
        expect((await run(`${deaf} true`)).exit).toBe(0);
        expect((await run(`${deaf} sleep 600; sleep 600`, { timeoutMs: 1000 })).exit).toBeNull();
        await wakes(time);
      });

    test("flags open what they name", () =>
      inWorld(
        { only, network: true, git: true, readable: [".env", "~/.ssh"], writable: ["../outside.txt"] },
        async ({ base, run }) => {
          expect((await run("cat .env ~/.ssh/id_rsa")).output).toBe("KEY=canary\ncanary\n");
          expect((await run(`echo x >> .git/config && echo y > ${base}/outside.txt`)).exit).toBe(0);
          const seen = Number((await run("cat /proc/net/dev | grep -c :")).output);
          expect(seen).toBe(readdirSync("/sys/class/net").length);
          await run(`echo x > ${base}/new.txt`);
          expect(existsSync(join(base, "new.txt"))).toBe(false);
        },
      ));

    inside("checks of the user get the network", async ({ run }) => {
      const seen = (await run("cat /proc/net/dev | grep -c :", { by: "user" })).output.trim();
      expect(Number(seen)).toBe(readdirSync("/sys/class/net").length);
    });

    test("odd paths are taken as they are", () =>
      inWorld(
        { only },
        async ({ work, run }) => {
          const denied = only === "namespaces" ? "" : "cat: .env: Permission denied\n";
          expect((await run("echo x > new.txt; cat .env; pwd")).output).toBe(`${denied}${work}\n`);
        },
        "a b,c:d\\e'f\"g",
      ));
  });
}

needs(confinedBy("namespaces")).describe("own namespaces", () => {
  const inside = testIn({ only: "namespaces" });

  inside("what is written to a cache is gone with the command", async ({ base, run }) => {
    expect((await run("echo x > ~/.cache/x && cat ~/.cache/x")).output).toBe("x\n");
    expect(readdirSync(join(base, "home/.cache"))).toEqual([]);
  });

  inside("a hidden file that goes while a command is set up is not a failure", async ({ work, run }) => {
    await run("true");
    rmSync(join(work, ".env"));
    expect((await run("echo ran")).output).toBe("ran\n");
  });
});

needs(confinedBy("landlock")).describe("Landlock alone", () => {
  const inside = testIn({ only: "landlock" });

  inside("only the project and a private folder are written; no hidden file, no socket", async ({ base, run }) => {
    expect((await run('echo x > x.txt; echo t > "$TMPDIR/t"; cat x.txt "$TMPDIR/t"')).output).toBe("x\nt\n");
    writeFileSync(join(base, "home/notes.txt"), "mine\n");
    const writes = [`echo x > ${base}/outside.txt`, `echo x > ${base}/new.txt`];
    for (const attack of [...writes, "cat ~/.ssh/id_rsa", "cat ~/notes.txt", network])
      expect([attack, (await run(attack)).exit === 0]).toEqual([attack, false]);
  });
});

test("folders of processes that were killed are cleared away, those of others are not", () => {
  const folder = newFolder("disk", "sweep");
  const dead = Bun.spawnSync(["true"]).pid;
  const names = [`pai-tmp-${dead}-a`, `pai-layers-${dead}-b`, `pai-tmp-${process.pid}-c`, `other-${dead}-d`];
  for (const name of names) mkdirSync(join(folder, name, "deep"), { recursive: true });
  sweepScratch(folder);
  expect(readdirSync(folder).sort()).toEqual([`other-${dead}-d`, `pai-tmp-${process.pid}-c`]);
});

test("less than was asked for runs nothing at all; off runs everything", async () => {
  if (has("landlock")) {
    await inWorld({ only: "landlock", choice: "full" }, async ({ run }) => {
      for (const by of ["user", "plan"] as const) {
        expect(await run("touch ran", { by }).catch((thrown) => thrown.code)).toBe("sandbox_missing");
      }
    });
  }
  await inWorld({ choice: "off" }, async ({ base, run }) => {
    expect((await run(`echo x > ${base}/outside.txt`, { unasked: true })).exit).toBe(0);
  });
});

describe("a line on the wall", () => {
  const root = "/srv/work";
  const asRoot: Failed = {
    ...{ output: "", root, hidden: [], isRoot: true, mayWrite: () => true },
    isUnseen: (path) => path.startsWith("/run/"),
  };
  const said = (output: string, more: Partial<Failed> = {}, exit: number | null = 1) =>
    explainWall("full", exit, { ...asRoot, output, ...more });

  test.each([
    ["curl: (6) Could not resolve host: example.org", "--allow-net", false],
    ["error: could not lock config file .git/config: Read-only file system", "--allow-write .git", false],
    ["touch: /usr/x: Read-only file system", "--allow-write /usr/x", true],
    ["Failed to connect to bus: No medium found", "bus", true],
    ["sh: 1: cannot create /etc/x: Permission denied", "--allow-write /etc/x", true],
    ['open() "/var/log/nginx/error.log" failed (30: Read-only file system)', "/var/log/nginx/error.log", true],
    ["mktemp: failed to create directory via template '/run/lock/a.XX': No such file or directory", "/run/lock", true],
    ["bind() to 0.0.0.0:80 failed (13: Permission denied)", "ports below 1024", true],
    ['sudo: The "no new privileges" flag is set, which prevents sudo from running as root.', "sudo", true],
    ["sudo: PERM_SUDOERS: setresuid(-1, 1, -1): Operation not permitted", "another user", true],
    ["sshd: no hostkeys available -- exiting.", "keys of the host", true],
    ["sed: couldn't open temporary file conf/sedAb: Value too large for defined data type", "another group", true],
    ["Error: EOVERFLOW: value too large for defined data type, open 'conf/x'", "another group", true],
    ["OSError: [Errno 75] Value too large for defined data type: 'conf/x'", "another group", true],
  ] as const)("%s", (output, part, needsRights) => {
    const wall = said(output);
    expect([wall?.text.includes(part), wall?.needsRights]).toEqual([true, needsRights]);
  });

  test("names the socket that the command names, whatever the program says", () => {
    const wall = said("curl: (7) Failed to connect to x port 80", { socket: "/run/x.sock" });
    expect([wall?.text, wall?.needsRights]).toEqual([expect.stringContaining("--allow-read /run/x.sock"), true]);
  });

  test("names what pai itself hid, and only as a word of its own", () => {
    const hidden = ["/etc/sudoers", ".env"];
    expect(said("/etc/sudoers: bad permissions, should be mode 0440", { hidden })?.text).toContain("/etc/sudoers");
    expect(said("open .env: No such file or directory", { hidden })?.text).toContain(".env is hidden");
    expect(said("TypeError: cannot read process.env.HOME", { hidden })).toBeNull();
  });

  test("is silent where the user could not do it either, on timeouts, and where the output says something else", () => {
    const asUser = { isRoot: false, mayWrite: () => false, isUnseen: () => false };
    const silent = [
      said('open() "/run/nginx.pid" failed (13: Permission denied)', asUser),
      said("bind() to 0.0.0.0:80 failed (13: Permission denied)", { isRoot: false }),
      said("[Errno 2] No such file or directory: '/opt/data/a.csv'"),
      said("1 test failed"),
      said("touch: /usr/x: Read-only file system", {}, 0),
      said("touch: /usr/x: Read-only file system", {}, null),
      said("/bin/bash: line 1: .env: Permission denied"),
      explainWall(null, 1, { ...asRoot, output: "touch: /usr/x: Read-only file system" }),
      said("Error: Timeout of 2000ms exceeded. (/usr/lib/node/mocha.js)"),
      said("  ✔ retries after EROFS and EPERM (12ms)\n  1) is quick"),
      said("cat: b.txt: No such file or directory"),
      said("ENOENT: no such file, open '/srv/work/b.txt'"),
    ];
    expect(silent).toEqual(silent.map(() => null));
  });
});
