/** Where the binary runs: in an empty root with the C libraries, and what a bare machine leaves out. */
import { beforeAll, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { version } from "../../package.json";
import { folder, program, tar } from "../../scripts/release/archive.ts";
import { newFolder } from "../grounds.ts";
import { needs, rootUser } from "../needs.ts";
import { findBinary } from "../transcript/harness.ts";
import { sha256 } from "./fixture.ts";
import { fillRoot, own, ownRoot, runInRoot, staticBusybox } from "./namespace.ts";

const shelf = newFolder("disk", "chroot");
const root = join(shelf, "root");
const target = `linux-${process.arch}`;

/** A release of the binary of this checkout, packed in haste. */
beforeAll(async () => {
  if (!ownRoot.isHere || !staticBusybox.isHere) return;
  fillRoot(root, findBinary());
  const top = `pai-1.0.0-${target}`;
  const contents = [folder(`${top}/`), program(`${top}/pai`, readFileSync(findBinary()))];
  const archive = gzipSync(await tar(contents, 0), { level: 1 });
  mkdirSync(join(root, "release"));
  writeFileSync(join(root, "release", `${top}.tar.gz`), archive);
  writeFileSync(join(root, "release/SHA256SUMS"), `${sha256(archive)}  ${top}.tar.gz\n`);
});

const demo = 'pai demo >/tmp/demo.txt 2>&1 && tail -n 3 /tmp/demo.txt || { echo "exit $?"; cat /tmp/demo.txt; }';
const ending = "  cd your-project && pai";

needs(ownRoot, staticBusybox).test("it installs in an empty root with the C libraries (R60, R66)", () => {
  const { stdout, stderr, status } = runInRoot(
    root,
    "sh /install.sh --from /release --to /opt/pai && /opt/pai/pai demo",
  );
  expect([status, stdout.split("\n")[0]]).toEqual([0, `installed pai ${version} as /opt/pai/pai`]);
  expect([stdout.trim().endsWith(ending), stderr.includes("pai:")]).toEqual([true, false]);
});

/** What is different, the commands that make it so outside the root, and those inside. */
const places: readonly (readonly [name: string, outside: string, inside: string])[] = [
  ["a read-only root", "mount -t tmpfs none $ROOT/tmp; mount -o remount,bind,ro $ROOT", demo],
  [
    "no /tmp and no home",
    "rm -rf $ROOT/tmp; trap 'mkdir $ROOT/tmp' EXIT",
    "pai demo 2>/errors | tail -n 3; rm /errors",
  ],
  ["a noexec temporary folder", "mount -t tmpfs -o noexec none $ROOT/tmp", demo],
];
for (const [name, outside, inside] of places)
  needs(ownRoot, staticBusybox).test(`pai runs with ${name} (R66)`, () => {
    const { stdout, stderr } = runInRoot(root, inside, { outside });
    expect(`${stdout}${stderr}`.trim()).toEndWith(ending.trim());
  });

needs(ownRoot, staticBusybox, rootUser).test("pai runs as a user that no passwd names (R66)", () => {
  const outside = "mount -t tmpfs -o mode=1777 none $ROOT/tmp";
  expect(runInRoot(root, demo, { outside, user: "54321:54321" }).stdout.trim()).toEndWith(ending.trim());
});

needs(ownRoot, staticBusybox).test("what dpkg installed is left to dpkg (R64, R65)", () => {
  const inside = `mkdir -p /usr/bin /var/lib/dpkg/info; cp /bin/pai /usr/bin/pai; echo /usr/bin/pai >/var/lib/dpkg/info/pai.list
    /usr/bin/pai uninstall -y; echo "exit $?"; rm -r /usr /var`;
  const { stdout, stderr } = runInRoot(root, inside);
  expect(`${stdout}${stderr}`).toContain("exit 2");
  expect(stderr).toContain("remove it with: apt-get remove pai");
});

const groups = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].filter((path) =>
  ["memory.limit_in_bytes", "memory.max"].some((name) => existsSync(join(path, name))),
);
const group = groups.map((path) => join(path, `pai-test-${process.pid}`))[0];

needs(ownRoot, staticBusybox, { name: "a memory cgroup", isHere: group !== undefined }).test(
  "256 MB of memory are enough (R66, R67)",
  () => {
    const limit = `mkdir ${group}; trap 'echo 0 >${dirname(group ?? "")}/cgroup.procs; rmdir ${group}' EXIT; cd ${group}
    for name in memory.limit_in_bytes memory.memsw.limit_in_bytes memory.max; do [ ! -e $name ] || echo 256M >$name; done
    echo 0 >cgroup.procs; cd /`;
    const { stdout } = runInRoot(root, demo, { outside: `${limit}; mount -t tmpfs none $ROOT/tmp` });
    expect(stdout.trim()).toEndWith(ending.trim());
  },
);

needs(ownRoot, staticBusybox).test("without /proc the runtime cannot start: no exit code of pai's", () => {
  const { status, stderr } = spawnSync(own[0] ?? "", [...own.slice(1), "chroot", root, "/bin/pai", "--version"], {
    encoding: "utf8",
  });
  expect([status === 0, stderr.includes("Bun has crashed")]).toEqual([false, true]);
});

needs("readelf").test("the binary asks for no symbol newer than glibc 2.17 (R66)", () => {
  const { stdout } = spawnSync("readelf", ["-V", "-W", findBinary()], { encoding: "utf8", maxBuffer: 1e9 });
  const versions = [...stdout.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  expect([versions.length > 0, Math.max(...versions)]).toEqual([true, 17]);
});
