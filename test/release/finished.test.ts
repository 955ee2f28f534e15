/**
 * A finished release, as its users get it: `PAI_RELEASE=dist/release bun test test/release`. Without that variable all of
 * this is skipped, since a release takes minutes.
 */
import { expect, setDefaultTimeout } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { debianVersion } from "../../scripts/release/deb.ts";
import { findSbomFaults } from "../../scripts/release/sbom.ts";
import { targets } from "../../scripts/release/targets.ts";
import { newFolder } from "../grounds.ts";
import { type Need, needs } from "../needs.ts";
import { run as runIn } from "./fixture.ts";
import {
  armPrograms,
  bring,
  fillArmLibraries,
  fillRoot,
  finished,
  ownRoot,
  runInRoot,
  staticBusybox,
} from "./namespace.ts";

setDefaultTimeout(300_000);

const given = process.env["PAI_RELEASE"];
const release = resolve(given ?? "/nonexistent");
const version = given === undefined ? "" : readFileSync(join(release, "latest"), "utf8").trim();
const shelf = newFolder("disk", "finished");

const has = (name: string) => existsSync(join(release, name));
const archiveOf = (target: string) => `pai-${version}-${target}.tar.gz`;
const built = targets.filter(({ name }) => has(archiveOf(name)));
const releaseOf = (target: string): Need => ({ name: finished.name, isHere: has(archiveOf(target)) });
const run = (command: string, args: readonly string[]) => runIn(command, args, release);

const unpacked = new Map<string, string>();
/** The program of a target, unpacked once. */
function unpack(target: string): string {
  const known = unpacked.get(target);
  if (known !== undefined) return known;
  run("tar", ["-xzf", archiveOf(target), "-C", shelf]);
  const program = join(shelf, `pai-${version}-${target}`, "pai");
  unpacked.set(target, program);
  return program;
}

needs(finished).test("every file is named in SHA256SUMS with its sum (R56)", () => {
  const named = readFileSync(join(release, "SHA256SUMS"), "utf8").trim().split("\n");
  const files = readdirSync(release).filter((name) => !name.startsWith("SHA256SUMS"));
  expect(named.map((line) => line.slice(66)).sort()).toEqual(files.sort());
  expect(run("sha256sum", ["--quiet", "-c", "SHA256SUMS"])).toEqual({ out: "", status: 0 });
  expect(built.length).toBeGreaterThan(0);
});

for (const { name } of targets) {
  needs(releaseOf(name)).test(`${name}: both archives hold the same files, for that processor (R55)`, () => {
    const top = `pai-${version}-${name}`;
    const files = [
      "LICENSE",
      "README.md",
      "THIRD_PARTY.md",
      "completions/_pai",
      "completions/pai.bash",
      "completions/pai.fish",
    ];
    const listed = run("tar", ["-tzf", archiveOf(name)])
      .out.trim()
      .split("\n");
    expect(listed.filter((each) => !each.endsWith("/")).sort()).toEqual(
      [...files, "pai", "pai.1"].map((each) => `${top}/${each}`).sort(),
    );
    const machine = readFileSync(unpack(name)).readUInt16LE(18);
    expect(machine).toBe(name.includes("arm64") ? 183 : 62);
    const sums = ["gz", "xz"].map(
      (kind) => run("sh", ["-c", `tar -xO${kind === "gz" ? "z" : "J"}f ${top}.tar.${kind} | sha256sum`]).out,
    );
    expect(new Set(sums).size).toBe(1);
  });
}

for (const { name, deb } of targets.filter((target) => target.deb !== null)) {
  needs(releaseOf(name), "readelf").test(`${name}: no symbol newer than glibc 2.17 (R66)`, () => {
    const { out } = run("readelf", ["-V", "-W", unpack(name)]);
    expect(Math.max(...[...out.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)))).toBe(17);
  });

  needs(releaseOf(name), "dpkg-deb").test(`${name}: Debian's package holds the same program (R55)`, () => {
    const file = `pai_${debianVersion(version)}_${deb}.deb`;
    const program = run("sh", ["-c", `dpkg-deb --fsys-tarfile ${file} | tar -xO ./usr/bin/pai | sha256sum`]).out;
    expect(run("sha256sum", [unpack(name)]).out.split(" ")[0]).toBe(program.split(" ")[0]);
    expect(run("dpkg-deb", ["-f", file, "Architecture"]).out.trim()).toBe(`${deb}`);
  });
}

needs(finished).test("the bill of materials follows its schema, and the notices name all of it (R56)", async () => {
  const text = readFileSync(join(release, `pai-${version}.cdx.json`), "utf8");
  expect(await findSbomFaults(text)).toBeNull();
  const { components } = JSON.parse(text) as {
    components: { type: string; group?: string; name: string; version: string }[];
  };
  const notices = readFileSync(join(release, "THIRD_PARTY.md"), "utf8");
  const libraries = components.filter(({ type }) => type === "library");
  expect(libraries.length).toBeGreaterThan(5);
  for (const { group, name, version: own } of libraries)
    expect(notices).toContain(`| ${group === undefined ? name : `${group}/${name}`} | ${own} |`);
});

const ending = "  cd your-project && pai";
const from = `sh /install.sh --from /release --to /opt/pai`;

/** A bare root with the release's files for a target. */
function makeRoot(target: string, program: string | null): string {
  const root = join(shelf, `root-${target}`);
  fillRoot(root, program);
  for (const name of [archiveOf(target), "SHA256SUMS", "latest"])
    bring(join(release, name), join(root, "release", name));
  return root;
}

const own = `linux-${process.arch}`;
needs(releaseOf(own), ownRoot, staticBusybox).test(`${own}: installs in a bare root and plays its demo (R60)`, () => {
  const { stdout, status } = runInRoot(makeRoot(own, unpack(own)), `${from} && /opt/pai/pai demo`);
  expect([status, stdout.trimEnd().endsWith(ending)]).toEqual([0, true]);
});

needs(releaseOf("linux-arm64"), armPrograms, staticBusybox).test("linux-arm64: the demo, under qemu (R60, R66)", () => {
  const root = makeRoot("linux-arm64", null);
  fillArmLibraries(root);
  const script = `${from} --target linux-arm64 && /opt/pai/pai demo && /opt/pai/pai --version --json`;
  const { stdout } = runInRoot(root, script, { arm: true });
  expect(stdout).toContain(ending);
  expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}")).toMatchObject({
    data: { version, target: "linux-arm64" },
  });
});

/** Debian's libstdc++ on musl: what it misses there, for the test. */
const shim = `#include <stddef.h>
extern size_t strftime_l(char *, size_t, const char *, const void *, void *);
size_t __strftime_l(char *to, size_t size, const char *how, const void *when, void *where) { return strftime_l(to, size, how, when, where); }
int __cxa_thread_atexit_impl(void *a, void *b, void *c) { return 0; }
int _dl_find_object(void *a, void *b) { return -1; }
int __cpu_indicator_init(void) { return 0; }
extern unsigned long getauxval(unsigned long);
unsigned long __getauxval(unsigned long what) { return getauxval(what); }
unsigned arc4random(void) { return 4; }
char __libc_single_threaded = 0;
int __cpu_model[64];
`;
const musls = [
  {
    target: "linux-x64-musl",
    loader: "/lib/ld-musl-x86_64.so.1",
    gnuLoader: "ld-linux-x86-64.so.2",
    compiler: "gcc",
    roots: [ownRoot, staticBusybox, { name: "an x64 machine", isHere: process.arch === "x64" }],
    arm: false,
  },
  {
    target: "linux-arm64-musl",
    loader: "/lib/ld-musl-aarch64.so.1",
    gnuLoader: "ld-linux-aarch64.so.1",
    compiler: "aarch64-linux-gnu-gcc",
    roots: [ownRoot, staticBusybox, armPrograms],
    arm: true,
  },
] as const;
for (const { target, loader, gnuLoader, compiler, roots, arm } of musls)
  needs(releaseOf(target), ...roots, { name: loader, isHere: existsSync(loader) }, compiler).test(
    `${target}: installs on musl and plays its demo${arm ? ", under qemu" : ""} (R60, R66)`,
    () => {
      const root = makeRoot(target, null);
      for (const library of ["libstdc++.so.6", "libgcc_s.so.1"])
        bring(
          spawnSync(compiler, [`-print-file-name=${library}`], { encoding: "utf8" }).stdout.trim(),
          join(root, "usr/lib", library),
        );
      bring(loader, join(root, loader));
      symlinkSync(loader, join(root, "usr/lib", gnuLoader));
      const flags = ["-shared", "-fPIC", "-nostdlib", "-w", "-x", "c", "-", "-o", join(root, "shim.so")];
      expect(spawnSync(compiler, flags, { input: shim, encoding: "utf8" }).stderr).toBe("");
      const { stdout, stderr } = runInRoot(root, `${from} --target ${target} && /opt/pai/pai demo`, {
        env: "LD_PRELOAD=/shim.so",
        arm,
      });
      expect(`${stdout.trimEnd()}${stdout === "" ? stderr : ""}`).toEndWith(ending);
    },
  );

const nehalem = "qemu-x86_64-static";
needs(releaseOf("linux-x64"), nehalem).test("linux-x64: runs on a processor without AVX (R66)", () => {
  expect(run(nehalem, ["-cpu", "Nehalem", unpack("linux-x64"), "--version"]).out).toBe(`pai ${version}\n`);
});

needs(releaseOf(own)).test("try-release.sh installs from the address of the release and plays the demo", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const file = Bun.file(join(release, new URL(request.url).pathname.slice(1)));
      return (await file.exists()) ? new Response(file) : new Response("no", { status: 404 });
    },
  });
  mkdirSync(join(shelf, "smoke"));
  const script = join(import.meta.dir, "../../scripts/try-release.sh");
  const child = Bun.spawn(["sh", script, `http://127.0.0.1:${server.port}`], {
    stdout: "pipe",
    cwd: join(shelf, "smoke"),
  });
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stdout).text()).toContain(`pai ${version} from http`);
  expect(readdirSync(join(shelf, "smoke"))).toEqual([]);
});
