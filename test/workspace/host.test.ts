/** Looks at the machine: what its files tell, whatever processes, mounts and files are called. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join } from "node:path";
import { openHostFiles } from "../../src/workspace/host/host.ts";
import { lookAtHost, lookAtMachine } from "../../src/workspace/host/look-at-host.ts";
import { readSocketAddress, whoListens } from "../../src/workspace/host/ports.ts";
import { newFolder } from "../grounds.ts";

let machine = "";
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(machine, path)), { recursive: true });
  writeFileSync(join(machine, path), text);
};
const process = (pid: number, name: string, { uid = 0, kb = 1000, args = name }) => {
  put(
    `proc/${pid}/status`,
    `Name:\t${name}\nState:\tS (sleeping)\nPPid:\t1\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nVmRSS:\t${kb} kB\n`,
  );
  put(`proc/${pid}/stat`, `${pid} (${name}) S 1 1 1 0 -1 0 0 0 0 0 500 500 0 0 20 0 1 0 1000 0 0`);
  put(`proc/${pid}/cmdline`, args.replaceAll(" ", "\0"));
  put(`proc/${pid}/environ`, "TOKEN=never-shown\0");
};
const look = (asked: string, showsArguments = false) => lookAtHost(openHostFiles(machine, showsArguments), asked);

beforeAll(() => {
  machine = newFolder("disk", "host");
  put(
    "etc/passwd",
    "root:x:0:0::/root:/bin/bash\nweb:x:33:33::/srv/www:/usr/sbin/nologin\nada:x:1000:1000::/home/ada:/bin/zsh\n",
  );
  put("etc/group", "sudo:x:27:ada\ngames:x:60:\n");
  put("proc/uptime", "1010.0 2000.0");
  put("proc/loadavg", "0.10 0.20 0.30 1/500 1");
  put("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 1048576 kB\nSwapTotal: 0 kB\n");
  put("proc/vmstat", "oom_kill 3\n");
  put("proc/self/mounts", "/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\nnas:/x /mnt/a\\040b nfs4 rw 0 0\n");
  put("proc/1/comm", "systemd\n");
  process(1, "systemd", {});
  process(20, "nginx", { uid: 33, kb: 2000, args: "nginx: worker --token=abc" });
  process(21, "nginx", { uid: 33, kb: 3000 });
  process(22, "evil) S 1\n31 (root", { uid: 1000, args: `\u001b[2J\n${"a".repeat(1_000_000)}` });
  process(23, "\u202egnp.exe", { uid: 4242 });
  put(
    "proc/net/tcp",
    `  sl  local_address rem_address\n   0: 0100007F:0CEA 00000000:0000 0A 0:0 00:0 00 33 0 777 1\n   1: 0100007F:0CEA 0100007F:9999 01 0:0 00:0 00 33 0 778 1\n   2: 00000000:0016 00000000:0000 0A 0:0 00:0 00 0 0 779 1\n`,
  );
  mkdirSync(join(machine, "proc/20/fd"));
  symlinkSync("socket:[777]", join(machine, "proc/20/fd/6"));
  put("run/systemd/system/.keep", "");
  put("run/systemd/units/invocation:web.service", "");
  put("sys/fs/cgroup/system.slice/web.service/cgroup.procs", "20\n21\n");
  put(
    "etc/systemd/system/web.service",
    "[Service]\nExecStart=/usr/bin/web\nEnvironment=PASSWORD=x\n[Install]\nWantedBy=multi-user.target\n",
  );
  put("etc/systemd/system/old.service", "[Service]\nExecStart=/bin/old\n");
  put("etc/systemd/system/multi-user.target.wants/web.service", "");
});

afterAll(() => rmSync(machine, { recursive: true, force: true }));

const holds: readonly (readonly [asked: string, has: readonly RegExp[], lacks?: readonly RegExp[]])[] = [
  [
    "processes",
    [/^5 processes of 4 users, load 0\.10 0\.20 0\.30/, /web +2 +4\.9 MB +2\.0 % +17 min +20 21 +nginx$/m],
    [/token/],
  ],
  ["processes nginx", [/^20 +1 +web +S/m, /^21 /m], [/evil/, /token/]],
  ["ps ada", [/^22 +1 +ada .*evil/m], [/nginx/]],
  ["processes nothing-like-it", [/no process with the name, user or number nothing-like-it/]],
  [
    "ports",
    [/tcp +127\.0\.0\.1:3306 +web +20 +1 +nginx/, /0\.0\.0\.0:22 +root +- +0 +\?/, /of 1 the process is not known/],
  ],
  ["port 3306", [/127\.0\.0\.1:3306/], [/:22 /]],
  ["3306", [/127\.0\.0\.1:3306/], [/:22 /]],
  ["ports 18999", [/^nothing listens that fits 18999, of 2 open ports/]],
  ["memory", [/1\.0 GB available of 8\.0 GB/, /has ended 3 processes for want of memory/, /nginx/]],
  ["units", [/web\.service +enabled +runs \(pid 20 21\) +\/etc\/systemd\/system/], [/old\.service/]],
  ["service web", [/ {2}ExecStart=\/usr\/bin\/web/, /WantedBy/], [/PASSWORD/]],
  ["unit old", [/old\.service +not enabled +no process/]],
  ["mounts", [/^\/mnt\/a b +nfs4 +nas:\/x/m], [/proc +proc/]],
  ["users", [/^ada +1000 +\/home\/ada +\/bin\/zsh/m, /^sudo: ada/m], [/nologin/]],
  ["nginx", [/^20 +1 +web/m, /127\.0\.0\.1:3306/, /no unit file with nginx/]],
];

test.each(holds)("DIAGNOSE %s", async (asked, has, lacks = []) => {
  const text = await look(asked);
  for (const each of has) expect(text).toMatch(each);
  for (const each of [...lacks, /never-shown/]) expect(text).not.toMatch(each);
});

test("hostile names stay on one line, short, without control characters; arguments only where they are shown", async () => {
  for (const shows of [false, true]) {
    const text = await look("processes", shows);
    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(text).toContain("\\u{202e}gnp.exe");
    expect(text.length).toBeLessThan(4000);
    expect(text.includes("--token=abc")).toBe(shows);
    expect(text).not.toContain("never-shown");
  }
});

test("a machine that hides the processes of others says so", async () => {
  const other = newFolder("disk", "hidden");
  mkdirSync(join(other, "proc/self"), { recursive: true });
  writeFileSync(join(other, "proc/self/mounts"), "proc /proc proc rw,hidepid=2 0 0\n");
  expect(await lookAtHost(openHostFiles(other, false), "processes")).toContain("hidepid");
  expect(await lookAtHost(openHostFiles(other, false), "ports")).toContain("hidepid");
});

test("disk names the large folders and files with their owners, hard links once, and leads past mere ways to them", async () => {
  const top = newFolder("disk", "full");
  mkdirSync(join(top, "srv/only/logs"), { recursive: true });
  mkdirSync(join(top, "small"));
  writeFileSync(join(top, "srv/only/logs/app.log"), Buffer.alloc(12 * 1024 * 1024, 1));
  writeFileSync(join(top, "small/x"), "x");
  const text = await lookAtMachine(false, `disk ${top}`);
  expect(text).toMatch(new RegExp(`12 MB +\\S+ +${top}/srv/only/logs/$`, "m"));
  expect(text).toMatch(new RegExp(`12 MB +\\S+ +${top}/srv/only/logs/app\\.log$`, "m"));
  expect(text).not.toContain("small");
  expect(text).not.toMatch(new RegExp(`${top}/srv/$`, "m"));
});

test("disk names a deleted file that a process holds open", async () => {
  const folder = newFolder("disk", "held");
  const path = join(folder, "gone.log");
  writeFileSync(path, Buffer.alloc(9 * 1024 * 1024, 1));
  const fd = openSync(path, "r");
  rmSync(path);
  const text = await lookAtMachine(false, `disk ${dirname(folder)}`);
  closeSync(fd);
  expect(text).toMatch(/deleted and still open:\n.*9\.0 MB {2}.*gone\.log {2}held by .*bun/);
});

test("the real machine: a port of this process is found within the time of a look", async () => {
  const server = await new Promise<Server>((resolve) => {
    const made = createServer().listen(0, "127.0.0.1", () => resolve(made));
  });
  const { port } = server.address() as { port: number };
  const text = await lookAtMachine(false, `ports ${port}`);
  server.close();
  expect(text).toMatch(new RegExp(`127\\.0\\.0\\.1:${port} .* bun`));
});

test.each([
  ["0100007F", "127.0.0.1"],
  ["00000000000000000000000001000000", "[::1]"],
  ["0000000000000000FFFF00000100007F", "127.0.0.1"],
  ["B80D0120000000000000000001000000", "[2001:db8::1]"],
])("the kernel's address %s is %s", (hex, address) => expect(readSocketAddress(hex)).toBe(address));

test("names who listens on loopback, not who has the port at another address", () => {
  const folder = newFolder("disk", "listen");
  mkdirSync(join(folder, "proc/net"), { recursive: true });
  const row = (address: string, uid: number) => `0: ${address}:2CAA 00000000:0000 0A 0:0 00:0 0 ${uid} 0 1 1\n`;
  const ownerOf = (...rows: readonly string[]) => {
    writeFileSync(join(folder, "proc/net/tcp"), `sl local_address\n${rows.join("")}`);
    return whoListens(11434, openHostFiles(folder, false));
  };
  expect(ownerOf(row("0A00000A", 5), row("0100007F", 7))).toBe("7");
  expect(ownerOf(row("00000000", 5), row("0100007F", 7))).toBe("7");
  expect(ownerOf(row("0A00000A", 5), row("00000000", 7))).toBe("7");
  expect(ownerOf(row("0A00000A", 5))).toBeNull();
});
