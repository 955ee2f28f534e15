/** install.sh on disks and systems that it cannot install on: one line, nothing left, the old program stays. */
import { expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { needs } from "../needs.ts";
import { installer, makeRelease, openDesk, standIn } from "./fixture.ts";
import { fillRoot, own, ownRoot, runInRoot, staticBusybox } from "./namespace.ts";

/** Installs onto a file system of its own, mounted with options and later restricted; what is told, and is there afterwards. */
async function installOn(options: string, later: string, program: string): Promise<readonly string[]> {
  using desk = openDesk();
  const from = await makeRelease(join(desk.root, "release"), "1.3.0", program);
  const disk = join(desk.root, "disk");
  mkdirSync(disk);
  const script = `
    mount -t tmpfs -o ${options} none "$1" && mkdir "$1/bin" && echo old >"$1/bin/pai" && mount -o remount,bind,${later} "$1" || exit 99
    sh "$2" --from "$3" --to "$1/bin"; echo "exit $?"; sh "$2" --from "$3" --to "$1/new/bin"; echo "exit $?"
    find "$1" -mindepth 1 -type f; find "$1" -mindepth 1 -name 'new*' -o -name '.pai*'; cat "$1/bin/pai"`;
  const done = spawnSync(own[0] ?? "", [...own.slice(1), "sh", "-c", script, "sh", disk, installer, from], {
    encoding: "utf8",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: desk.root },
  });
  return `${done.stdout}${done.stderr}`.replaceAll(disk, "DISK").trim().split("\n");
}

const kept = ["exit 1", "exit 1", "DISK/bin/pai", "old"];

needs(ownRoot).test("a folder that programs cannot run in (R61)", async () => {
  const line = (folder: string) =>
    `install.sh: programs cannot run in DISK/${folder}: is it mounted noexec? choose another folder with --to`;
  expect(await installOn("mode=755", "noexec", standIn("1.3.0"))).toEqual([...kept, line("bin"), line("new/bin")]);
});

needs(ownRoot).test("a full disk (R61)", async () => {
  const large = standIn("1.3.0", `: ${"x".repeat(300_000)}`);
  const line = (folder: string) =>
    `install.sh: no room in DISK/${folder}: pai needs 200 MB there while it is installed`;
  expect(await installOn("size=64k", "rw", large)).toEqual([...kept, line("bin"), line("new/bin")]);
});

needs(ownRoot).test("a read-only disk (R61)", async () => {
  expect(await installOn("mode=755", "ro", standIn("1.3.0"))).toEqual([
    ...kept,
    "install.sh: DISK/bin cannot be written: Read-only file system",
    "install.sh: DISK/new/bin cannot be made: Read-only file system",
  ]);
});

/** Runs the installer in a root of its own, which holds busybox, the files named, and /proc if that is mounted. */
async function installInRoot(files: readonly string[], proc = true): Promise<string> {
  using desk = openDesk();
  const root = join(desk.root, "root");
  await makeRelease(join(root, "release"), "1.3.0");
  fillRoot(root, null);
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  const { stdout, stderr } = runInRoot(root, "sh /install.sh --from /release --to /new/bin; ls -d /new", { proc });
  return `${stdout}${stderr}`.trim();
}

const loader = `lib/ld-musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`;

needs(ownRoot, staticBusybox).test("musl without libstdc++: the line names what helps (R61, R66)", async () => {
  const gone = "ls: /new: No such file or directory";
  expect(await installInRoot([loader])).toBe(
    `install.sh: pai needs libstdc++ on musl; install it with: apk add libstdc++\n${gone}`,
  );
  const target = process.arch === "arm64" ? "linux-arm64-musl" : "linux-x64-musl";
  expect(await installInRoot([loader, "usr/lib/libstdc++.so.6"])).toContain("installed pai 1.3.0 as /new/bin/pai");
  expect(await installInRoot([loader, "release/SHA256SUMS", "usr/lib/libstdc++.so.6"])).toContain(`-${target}.tar.gz`);
  expect(await installInRoot([loader, "release/SHA256SUMS", "lib/libc.so.6"])).toContain(
    `linux-${process.arch}.tar.gz`,
  );
});

needs(ownRoot, staticBusybox).test("without /proc: one line in place of the runtime's crash (R61)", async () => {
  expect(await installInRoot([], false)).toBe(
    "install.sh: /proc is not mounted, and pai's runtime needs it\nls: /new: No such file or directory",
  );
});
