/** install.sh from a folder: what it installs, what it refuses, and what it leaves behind. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../needs.ts";
import {
  type Desk,
  installer,
  makeArchive,
  makeRelease,
  namesIn,
  openDesk,
  openStocked,
  sha256,
  standIn,
} from "./fixture.ts";

const script = readFileSync(installer, "utf8");

/** A failure is one line on standard error and leaves nothing; the folder was not there before. */
async function expectRefusal(desk: Desk, args: readonly string[], words: string, env = {}): Promise<void> {
  const result = await desk.install(["--to", join(desk.root, "new/bin"), ...args], { env });
  expect(result.stderr).toContain(words);
  expect(result.stderr.trim().split("\n")).toHaveLength(1);
  expect([result.code, namesIn(join(desk.root, "new"))]).toEqual([1, null]);
}

test("install.sh has at most 150 lines and ends with the call of its one function (R58)", () => {
  const lines = script.trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(150);
  expect([lines[0], lines.at(-1)]).toEqual(["#!/bin/sh", 'main "$@"']);
  expect(script).toContain("set -eu");
});

needs("shellcheck").test("shellcheck has nothing to say about the scripts (R58)", () => {
  const names = ["install.sh", "try-release.sh"].map((name) => join(installer, "..", name));
  const { stdout, status } = spawnSync("shellcheck", names, { encoding: "utf8" });
  expect([stdout, status]).toEqual(["", 0]);
});

for (const [shell, ...more] of [["dash"], ["bash", "--posix"], ["busybox", "sh"]] as const) {
  needs(shell).test(`${shell} installs from a folder with blanks in its name (R58, R60)`, async () => {
    using desk = openDesk();
    const from = await makeRelease(join(desk.root, "a release"), "1.2.3");
    const to = join(desk.root, "my programs");
    const env = { PAI_INSTALL_DIR: to };
    const result = await desk.install(["--from", from], { env, shell: [Bun.which(shell) ?? shell, ...more] });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toBe(`installed pai 1.2.3 as ${to}/pai\nadd it to PATH with: export PATH="${to}:$PATH"\n`);
    expect([namesIn(to), statSync(join(to, "pai")).mode & 0o777]).toEqual([["pai"], 0o755]);
  });
}

test("a script that was cut off while it came does nothing (R58)", async () => {
  using desk = await openStocked("1.2.3");
  const { from, to } = desk;
  const ends = [...script.matchAll(/\n/g)].map(({ index }) => index + 1).slice(0, -1);
  const lastCall = Array.from({ length: 'main "$@"'.length }, (_, at) => script.trimEnd().length - 1 - at);
  const cuts = [...ends, ...lastCall].map((length) => `${script.slice(0, length)}`);
  const file = join(desk.root, "cut.sh");
  for (const cut of cuts) {
    writeFileSync(file, cut);
    spawnSync("/bin/sh", [file, "--from", from, "--to", to], { env: { PATH: "/usr/bin:/bin", HOME: desk.root } });
  }
  expect([namesIn(to), namesIn(join(desk.root, ".local"))]).toEqual([null, null]);
});

test("the folder is an option, then a variable, then the one of the user (R59)", async () => {
  using desk = openDesk();
  const planned = async (args: readonly string[], env = {}) =>
    (await desk.install(["--from", "/r", "--target", "linux-x64", "--print-only", ...args], { env })).stdout.trim();
  const line = (folder: string) => `would install pai latest for linux-x64 from /r as ${folder}/pai`;
  const all = { PAI_INSTALL_DIR: "/own", BINDIR: "/b", PREFIX: "/p" };
  expect(await planned(["--to", "/to/"], all)).toBe(line("/to"));
  expect(await planned(["--to=sub"], all)).toBe(line(join(desk.root, "sub")));
  expect(await planned([], all)).toBe(line("/own"));
  expect(await planned([], { BINDIR: "/b", PREFIX: "/p" })).toBe(line("/b"));
  expect(await planned([], { PREFIX: "/p" })).toBe(line("/p/bin"));
  expect(await planned([])).toBe(
    line(process.getuid?.() === 0 ? "/usr/local/bin" : join(desk.root, "home/.local/bin")),
  );
  expect(await planned(["--version", "v2.0.0"])).toContain("pai 2.0.0");
});

test("a version, a mirror and a checksum come from options or variables; nothing is asked (R59)", async () => {
  using desk = await openStocked("1.2.3");
  const { from } = desk;
  await makeRelease(from, "1.3.0");
  const older = await makeArchive("1.2.3", "linux-x64", standIn("1.2.3"));
  const args = ["--from", from, "--target", "linux-x64", "--to", join(desk.root, "bin")];
  expect((await desk.install(args)).stdout).toContain("installed pai 1.3.0");
  const chosen = [...args, "--version", "1.2.3"];
  expect((await desk.install(chosen)).stderr).toContain("no checksum of pai-1.2.3-linux-x64.tar.gz");
  expect((await desk.install([...chosen, "--sha256", sha256(older)])).stdout).toContain("installed pai 1.2.3");
  const env = { PAI_VERSION: "1.3.0", PAI_MIRROR: from };
  expect((await desk.install(args.slice(2), { env })).stdout).toContain("installed pai 1.3.0");
  expect((await desk.install([...args, "--quiet"])).stdout).toBe("");
});

test("a single archive installs, and the folder may hold several versions only when one is named (R59)", async () => {
  using desk = await openStocked("1.2.3");
  const { from } = desk;
  const to = ["--target", "linux-x64", "--to", join(desk.root, "bin")];
  expect((await desk.install(["--from", join(from, "pai-1.2.3-linux-x64.tar.gz"), ...to])).code).toBe(0);
  expect((await desk.install(["--from", "pai-1.2.3-linux-x64.tar.gz", ...to], { cwd: from })).code).toBe(0);
  await makeRelease(from, "1.3.0");
  writeFileSync(join(from, "latest"), "latest\n");
  await expectRefusal(desk, ["--from", from], "several versions: name one with --version");
});

test("a program that was built here installs as it is, by its name or its folder", async () => {
  using desk = openDesk();
  const built = join(desk.root, "dist");
  mkdirSync(built);
  writeFileSync(join(built, "pai"), standIn("1.2.3"), { mode: 0o755 });
  for (const from of [built, join(built, "pai")]) {
    const to = join(desk.root, `bin-${from.length}`);
    const { code, stdout } = await desk.install(["--from", from, "--to", to]);
    expect([code, namesIn(to)]).toEqual([0, ["pai"]]);
    expect(stdout).toContain("installed pai 1.2.3");
  }
});

test("a wrong checksum, no checksum, a wrong archive: one line, and nothing is left (R61)", async () => {
  using desk = await openStocked("1.2.3");
  const { from } = desk;
  const archive = join(from, "pai-1.2.3-linux-x64.tar.gz");
  const target = ["--target", "linux-x64"];
  await expectRefusal(desk, ["--from", from, ...target, "--sha256", "0".repeat(64)], `expected ${"0".repeat(64)}`);
  const cut = readFileSync(archive).subarray(0, 200);
  writeFileSync(archive, cut);
  await expectRefusal(desk, ["--from", from, ...target], "cut off, changed, or a page of a proxy");
  await expectRefusal(desk, ["--from", from, ...target, "--sha256", sha256(cut)], "tar cannot unpack");
  const other = await makeArchive("1.2.3", "else", standIn("1.2.3"));
  writeFileSync(join(from, "SHA256SUMS"), "0  other\n");
  await expectRefusal(desk, ["--from", from, ...target], "no checksum of pai-1.2.3-linux-x64.tar.gz");
  writeFileSync(archive, Bun.gzipSync(Buffer.alloc(1024)));
  await expectRefusal(desk, ["--from", from, ...target, "--sha256", sha256(readFileSync(archive))], "holds no pai");
  writeFileSync(archive, other);
  await expectRefusal(desk, ["--from", join(from, "missing.tar.gz")], "there is no ");
  await expectRefusal(desk, ["--from", from, "--target", "linux-mips"], "there is no ");
});

test("a wrong option, no value, no address: one line (R61)", async () => {
  using desk = openDesk();
  await expectRefusal(desk, ["--frm", "x"], "unknown option: --frm");
  await expectRefusal(desk, ["--from"], "--from needs a value");
  await expectRefusal(desk, ["--version", "<html>", "--from", "/r"], "--version names no version");
  await expectRefusal(desk, [], "knows no address of releases");
  const { code, stderr } = await desk.install(["--from", "/r", "--uninstall", "--to", desk.root]);
  expect([code, stderr]).toEqual([1, `install.sh: there is no pai in ${desk.root} that runs; nothing was removed\n`]);
});

test("a machine without a build: the line names it (R61)", async () => {
  using desk = await openStocked("1.2.3");
  const { from } = desk;
  const machine = (name: string, words: string) => {
    const bin = join(desk.root, name);
    mkdirSync(bin);
    for (const [tool, text] of [
      ["uname", name === "Darwin" ? "echo Darwin" : `if [ "$1" = -s ]; then echo Linux; else echo ${name}; fi`],
      ["getconf", `echo ${name === "x86_64" ? 32 : 64}`],
    ] as const)
      writeFileSync(join(bin, tool), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return expectRefusal(desk, ["--from", from], words, { PATH: `${bin}:/usr/bin:/bin` });
  };
  await machine("riscv64", "there is no pai for riscv64");
  await machine("x86_64", "this is a 32-bit system");
  await machine("Darwin", "pai runs on Linux only");
});

/** What a loader or a shell says, and the words for it. */
const refusals: readonly (readonly [name: string, says: string, words: string])[] = [
  [
    "an older glibc",
    "pai: /lib/libc.so.6: version `GLIBC_2.17' not found (required by pai)",
    "needs glibc 2.17 or newer",
  ],
  ["musl without libstdc++", "Error loading shared library libstdc++.so.6: No such file", "apk add libstdc++"],
  ["another processor", "cannot execute binary file: Exec format error", "does not run on"],
  ["no loader, says dash", "sh: 1: /bin/pai: not found", "the C library"],
  ["no loader, says bash", "/bin/pai: cannot execute: required file not found", "the C library"],
  ["a missing library", "/pai: error while loading shared libraries: libdl.so.2: No such file", "libdl.so.2"],
  ["a crash", "Segmentation fault", "does not run here: Segmentation fault"],
];
for (const [name, says, words] of refusals)
  test(`a program that does not run here keeps the old one: ${name} (R61, R62)`, async () => {
    const broken = `#!/bin/sh\ncat <<'END' >&2\n${says}\nand more\nEND\nexit 1\n`;
    using desk = await openStocked("1.3.0", broken);
    const { from, to } = desk;
    await desk.install(["--from", await makeRelease(join(desk.root, "older"), "1.2.3"), "--to", to]);
    const { code, stderr } = await desk.install(["--from", from, "--to", to]);
    expect([code, stderr.split("\n").length, namesIn(to)]).toEqual([1, 2, ["pai"]]);
    expect(stderr).toContain(words);
    expect(readFileSync(join(to, "pai"), "utf8")).toContain("1.2.3");
  });

test("an upgrade leaves a running pai alone, and links are replaced, not followed (R62)", async () => {
  using desk = openDesk();
  const [to, started, go] = ["bin", "started", "go"].map((name) => join(desk.root, name)) as [string, string, string];
  const waits = `[ "$1" = wait ] && { : >"${started}"; while [ ! -e "${go}" ]; do sleep 0.05; done; echo old; exit; }`;
  const older = await makeRelease(join(desk.root, "older"), "1.2.3", standIn("1.2.3", waits));
  const newer = await makeRelease(join(desk.root, "newer"), "1.3.0");
  await desk.install(["--from", older, "--to", to]);
  const running = Bun.spawn([join(to, "pai"), "wait"], { stdout: "pipe" });
  while (namesIn(desk.root)?.includes("started") !== true) await Bun.sleep(10);
  expect((await desk.install(["--from", newer, "--to", to])).stdout).toContain("installed pai 1.3.0");
  writeFileSync(go, "");
  expect([await new Response(running.stdout).text(), await running.exited]).toEqual(["old\n", 0]);
  const elsewhere = join(desk.root, "elsewhere");
  writeFileSync(elsewhere, "precious\n");
  symlinkSync(elsewhere, join(desk.root, "link"));
  spawnSync("mv", ["-f", join(desk.root, "link"), join(to, "pai")]);
  expect((await desk.install(["--from", newer, "--to", to])).code).toBe(0);
  expect([readFileSync(elsewhere, "utf8"), namesIn(to)]).toEqual(["precious\n", ["pai"]]);
  mkdirSync(join(desk.root, "taken/pai"), { recursive: true });
  const { stderr } = await desk.install(["--from", newer, "--to", join(desk.root, "taken")]);
  expect(stderr).toContain("taken/pai is a folder");
});

test("another pai in PATH is named, and no file of the home is touched (R63)", async () => {
  using desk = await openStocked("1.2.3");
  const { from, to } = desk;
  const other = join(desk.root, "other");
  mkdirSync(other);
  writeFileSync(join(other, "pai"), standIn("0.0.1"), { mode: 0o755 });
  writeFileSync(join(desk.root, "home/.profile"), "# mine\n");
  const env = { PATH: `${other}:${to}:/usr/bin:/bin` };
  const { stdout } = await desk.install(["--from", from, "--to", to], { env });
  expect(stdout).toBe(`installed pai 1.2.3 as ${to}/pai\nwarning: another pai comes first in PATH: ${other}/pai\n`);
  const clean = await desk.install(["--from", from, "--to", to], { env: { PATH: `${to}:/usr/bin:/bin` } });
  expect(clean.stdout).toBe(`installed pai 1.2.3 as ${to}/pai\n`);
  expect(namesIn(join(desk.root, "home"))).toEqual([".profile"]);
  expect(readFileSync(join(desk.root, "home/.profile"), "utf8")).toBe("# mine\n");
});

test("a hostile TMPDIR plays no part (R61)", async () => {
  using desk = await openStocked("1.2.3");
  const { from, to } = desk;
  symlinkSync("/", join(desk.root, "trap"));
  for (const TMPDIR of ["/nonexistent", join(desk.root, "trap"), "$(touch pwned)", "/dev/null"])
    expect((await desk.install(["--from", from, "--to", to], { env: { TMPDIR } })).code).toBe(0);
  expect([namesIn(to), namesIn(desk.root)]).toEqual([["pai"], ["bin", "home", "release", "trap"]]);
});

test("it needs sh, tar, a checksum tool and the basic file commands, no more (R60)", async () => {
  using desk = await openStocked("1.2.3");
  const { from } = desk;
  const basic = ["sh", "tar", "gzip", "mkdir", "rmdir", "rm", "mv", "chmod", "uname"];
  const shell = [Bun.which("sh") ?? "/bin/sh"];
  const run = async (more: readonly string[], args: readonly string[] = []) =>
    await desk.install(["--from", from, "--to", join(desk.root, "bin"), ...args], {
      env: { PATH: desk.tools([...basic, ...more]) },
      shell,
    });
  for (const tool of ["sha256sum", "shasum", "openssl"].filter((name) => Bun.which(name) !== null))
    expect(await run([tool])).toMatchObject({ code: 0, stderr: "" });
  expect((await run([])).stderr).toBe("install.sh: there is no sha256sum, shasum or openssl\n");
  expect((await run(["sha256sum"], ["--from", "http://127.0.0.1:9"])).stderr).toContain("there is no curl or wget");
});

test("--uninstall removes the program and nothing else; another program of that name stays (R59)", async () => {
  using desk = await openStocked("1.2.3");
  const { from, to } = desk;
  await desk.install(["--from", from, "--to", to]);
  writeFileSync(join(to, "other"), "x");
  expect((await desk.install(["--uninstall", "--print-only", "--to", to])).stdout).toBe(`would remove ${to}/pai\n`);
  expect((await desk.install(["--uninstall", "--to", to])).stdout).toContain(`removed ${to}/pai`);
  writeFileSync(join(to, "pai"), "#!/bin/sh\necho I am another\n", { mode: 0o755 });
  expect((await desk.install(["--uninstall", "--to", to])).code).toBe(1);
  expect(namesIn(to)).toEqual(["other", "pai"]);
});
