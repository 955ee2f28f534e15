/** The parts of a release: archives, packages, notices, bill of materials, runtimes, the changelog. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dependencies, devDependencies, version } from "../../package.json";
import { ar, file, folder, gzip, program, tar, xz } from "../../scripts/release/archive.ts";
import { findBundled, renderNotices } from "../../scripts/release/bundled.ts";
import { debianVersion, packDeb } from "../../scripts/release/deb.ts";
import { packMain, packTarget } from "../../scripts/release/npm.ts";
import { putInPlace, sumAll } from "../../scripts/release/pack.ts";
import { findRuntime, requireIntegrity, requireSameBun } from "../../scripts/release/runtime.ts";
import runtimes from "../../scripts/release/runtimes.json";
import { findSbomFaults, renderSbom } from "../../scripts/release/sbom.ts";
import { openSigner } from "../../scripts/release/sign.ts";
import { chooseTargets, renderSizes, targets } from "../../scripts/release/targets.ts";
import { newFolder } from "../grounds.ts";
import { needs } from "../needs.ts";
import { run as runIn, standIn } from "./fixture.ts";

const shelf = newFolder("disk", "parts");

const root = join(import.meta.dir, "../..");
const epoch = 1_790_000_000;
const run = (command: string, args: readonly string[], cwd = shelf) => runIn(command, args, cwd);

/** A metafile as the bundler writes it, that names these packages. */
const metafileOf = (...names: readonly string[]) =>
  JSON.stringify({
    outputs: {
      "x.js": { inputs: Object.fromEntries(names.map((name) => [`node_modules/${name}/i.js`, { bytesInOutput: 9 }])) },
    },
  });

test("archives depend on nothing but their content (R57)", async () => {
  const make = async () => await tar([folder("a/"), program("a/run", "x"), file("a/text", "y".repeat(700))], epoch);
  const [one, two] = [await make(), await make()];
  expect([one.equals(two), (await gzip(one)).equals(await gzip(two))]).toEqual([true, true]);
  expect((await xz(one)).equals(await xz(two))).toBe(true);
  expect([...(await gzip(one)).subarray(4, 10)]).toEqual([0, 0, 0, 0, 0, 255]);
  expect(ar([["odd", Buffer.from("x")]], epoch).length % 2).toBe(0);
});

needs("tar", "xz").test("tar reads what a release packs: modes, owner, time (R55)", async () => {
  const archive = await tar([folder("a/"), program("a/run", "x"), file("a/text", "y")], epoch);
  for (const [name, data] of [
    ["a.tar.gz", await gzip(archive)],
    ["a.tar.xz", await xz(archive)],
  ] as const) {
    writeFileSync(join(shelf, name), data);
    const { out } = run("tar", ["--utc", "--full-time", "-tvf", name]);
    expect(out.trim().split("\n")).toEqual([
      "drwxr-xr-x root/root         0 2026-09-21 14:13:20 a/",
      "-rwxr-xr-x root/root         1 2026-09-21 14:13:20 a/run",
      "-rw-r--r-- root/root         1 2026-09-21 14:13:20 a/text",
    ]);
  }
});

const contents = {
  version: "1.2.0-rc.1",
  architecture: "amd64",
  binary: Buffer.from(standIn("1.2.0")),
  man: ".TH PAI 1\n",
  completions: { bash: "b\n", zsh: "z\n", fish: "f\n" },
  license: "MIT\n",
  notices: "notices\n",
};

needs("dpkg-deb").test("dpkg accepts the package, and finds its files (R55)", async () => {
  writeFileSync(join(shelf, "pai.deb"), await packDeb(contents, epoch));
  expect(run("dpkg-deb", ["-f", "pai.deb", "Package", "Version", "Architecture"]).out).toBe(
    "Package: pai\nVersion: 1.2.0~rc.1\nArchitecture: amd64\n",
  );
  expect(run("dpkg-deb", ["-x", "pai.deb", "deb"])).toEqual({ out: "", status: 0 });
  expect(run(join(shelf, "deb/usr/bin/pai"), []).out).toBe("pai 1.2.0\n");
  const listed = run("find", ["deb", "-type", "f"]).out.trim().split("\n").sort();
  expect(listed.map((name) => name.slice("deb/usr/".length))).toEqual([
    "bin/pai",
    "share/bash-completion/completions/pai",
    "share/doc/pai/THIRD_PARTY.md.gz",
    "share/doc/pai/copyright",
    "share/fish/vendor_completions.d/pai.fish",
    "share/man/man1/pai.1.gz",
    "share/zsh/vendor-completions/_pai",
  ]);
  expect(run("dpkg-deb", ["-e", "pai.deb", "control"]).status).toBe(0);
  expect(run("md5sum", ["--quiet", "-c", "../control/md5sums"], join(shelf, "deb")).status).toBe(0);
  expect(debianVersion("1.2.0")).toBe("1.2.0");
});

/** Installs the packages of npm as `npm install -g` does offline; the folder with `bin/pai`. */
async function installByNpm(name: string, program: string): Promise<string> {
  const prefix = join(shelf, name);
  const target = chooseTargets(`linux-${process.arch}`)[0];
  if (target === undefined) throw new Error("no target");
  mkdirSync(prefix);
  for (const [archive, entries] of [
    ["main.tgz", packMain("1.2.3", { LICENSE: "MIT" })],
    ["target.tgz", packTarget(target, "1.2.3", Buffer.from(program), { LICENSE: "MIT" })],
  ] as const)
    writeFileSync(join(prefix, archive), await gzip(await tar(entries, epoch)));
  const flags = ["--offline", "--no-audit", "--no-fund", "--omit=optional", "--ignore-scripts"];
  const done = run("npm", ["install", "-g", "--prefix", prefix, ...flags, "./main.tgz", "./target.tgz"], prefix);
  if (done.status !== 0) throw new Error(done.out);
  return prefix;
}

const answers = `#!/bin/sh
case $1 in
  term) kill -TERM $$ ;;
  wait) trap 'echo told; exit 143' TERM; echo ready; while :; do sleep 0.05; done ;;
esac
echo "got $*"; exit "$2"
`;

needs("npm").test("the npm packages install without a network, start the program, pass signals on (R55)", async () => {
  const prefix = await installByNpm("npm", answers);
  const pai = join(prefix, "bin/pai");
  expect(run(pai, ["a b", "7"])).toEqual({ out: "got a b 7\n", status: 7 });
  expect(run("sh", ["-c", `"${pai}" term; echo $?`]).out).toContain("143");
  const child = Bun.spawn([pai, "wait"], { stdout: "pipe", stdin: "ignore" });
  const reader = child.stdout.getReader();
  await reader.read();
  child.kill("SIGTERM");
  expect([new TextDecoder().decode((await reader.read()).value), await child.exited]).toEqual(["told\n", 143]);
  rmSync(join(prefix, "lib/node_modules/@paicode"), { recursive: true });
  expect(run(pai, [])).toEqual({
    out: expect.stringContaining("was npm told to leave out optional packages?"),
    status: 3,
  });
});

test("the npm packages are public: a new one with a scope would be private otherwise", () => {
  const [target] = targets;
  if (target === undefined) throw new Error("no target");
  for (const [entry] of [packTarget(target, "1.2.3", Buffer.from(""), {}), packMain("1.2.3", {})])
    expect(JSON.parse(String(entry?.data))).toMatchObject({ version: "1.2.3", publishConfig: { access: "public" } });
});

test("the folder of a release can be read by everybody, whatever the umask, and replaces an older one", () => {
  const [making, out] = [mkdtempSync(join(shelf, ".release-")), join(shelf, "release")];
  mkdirSync(out);
  writeFileSync(join(out, "old"), "1");
  writeFileSync(join(making, "latest"), "1.2.3\n", { mode: 0o600 });
  writeFileSync(join(making, "tool"), "", { mode: 0o700 });
  putInPlace(making, out);
  const modes = readdirSync(out).map((name) => [name, (statSync(join(out, name)).mode & 0o777).toString(8)]);
  expect([(statSync(out).mode & 0o777).toString(8), modes]).toEqual([
    "755",
    [
      ["latest", "644"],
      ["tool", "755"],
    ],
  ]);
});

test("notices and bill of materials tell what is in the bundle, from the lock file (R55, R56)", async () => {
  const packages = findBundled([metafileOf("zod", "ajv-formats"), metafileOf("zod", "ajv")]);
  expect(packages.map(({ name }) => name)).toEqual(["ajv", "ajv-formats", "zod"]);
  expect(packages[1]).toMatchObject({ version: devDependencies["ajv-formats"], needs: ["ajv"] });
  const notices = renderNotices(packages, "1.4.5");
  for (const words of ["| zod |", "Runtime: Bun 1.4.5", "LGPL-2.0", "Permission is hereby granted"])
    expect(notices).toContain(words);
  const materials = {
    version: "1.2.3",
    commit: "c0ffee",
    epoch,
    packages,
    runtimes: targets.map(({ name }) => findRuntime(name)),
  };
  const sbom = renderSbom({ ...materials, direct: Object.keys(dependencies) });
  expect(await findSbomFaults(sbom)).toBeNull();
  const { components } = JSON.parse(sbom) as { components: { purl: string; hashes: { content: string }[] }[] };
  expect(components.map(({ purl }) => purl)).toContain("pkg:npm/%40oven/bun-linux-x64-baseline@1.4.5");
  expect(components.every(({ hashes }) => /^[0-9a-f]{128}$/.test(hashes[0]?.content ?? ""))).toBe(true);
  expect(await findSbomFaults(sbom.replace('"CycloneDX"', '"Cyclone"'))).not.toBeNull();
  expect(() => findBundled([metafileOf("nowhere")])).toThrow();
});

test("the runtimes are pinned by version and integrity, and nothing else is used (R57)", () => {
  expect(runtimes.version).toEqual(devDependencies.bun);
  expect(targets.map(({ name }) => name)).toEqual(Object.keys(runtimes.runtimes));
  for (const { name } of targets) expect(findRuntime(name).integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  expect(() => requireIntegrity(Buffer.from("another"), findRuntime("linux-x64"))).toThrow("expected sha512-s8yMwYc");
  expect(() => findRuntime("linux-mips")).toThrow("does not name linux-mips");
  expect(requireSameBun).not.toThrow();
  const lock = readFileSync(join(root, "bun.lock"), "utf8");
  for (const { package: name, integrity } of Object.values(runtimes.runtimes))
    if (lock.includes(`"${name}":`)) expect(lock).toContain(integrity);
});

test("targets are chosen by name (R66)", () => {
  expect(chooseTargets("linux-arm64,linux-x64").map(({ name }) => name)).toEqual(["linux-arm64", "linux-x64"]);
  expect(() => chooseTargets("linux-x86")).toThrow("unknown target: linux-x86; there are linux-x64, ");
});

needs("sha256sum", "ssh-keygen").test("sums of all files, signed by an SSH key, verified by ssh-keygen (R56)", () => {
  const folderOfFiles = join(shelf, "signed");
  mkdirSync(folderOfFiles);
  writeFileSync(join(folderOfFiles, "latest"), "1.2.3\n");
  writeFileSync(join(folderOfFiles, "SHA256SUMS"), sumAll(folderOfFiles));
  expect(run("sha256sum", ["-c", "SHA256SUMS"], folderOfFiles).out).toBe("latest: OK\n");
  run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "someone@somewhere", "-f", "key"]);
  const signer = openSigner(join(shelf, "key"));
  expect(signer.sign(folderOfFiles)).toBe("SHA256SUMS.sig");
  expect(signer.publicKey).toMatch(/^ssh-ed25519 \S+$/);
  writeFileSync(join(shelf, "signers"), `pai ${signer.publicKey}\n`);
  const verify = () =>
    run("sh", ["-c", "ssh-keygen -Y verify -f signers -I pai -n file -s signed/SHA256SUMS.sig <signed/SHA256SUMS"])
      .status;
  expect(verify()).toBe(0);
  writeFileSync(join(folderOfFiles, "SHA256SUMS"), "changed\n");
  expect(verify()).not.toBe(0);
});

needs("minisign").test("sums signed by a minisign key, verified by minisign (R56)", () => {
  const folderOfFiles = join(shelf, "minisigned");
  mkdirSync(folderOfFiles);
  writeFileSync(join(folderOfFiles, "SHA256SUMS"), "sums\n");
  run("minisign", ["-G", "-W", "-s", "mini.key", "-p", "mini.pub"]);
  const signer = openSigner(join(shelf, "mini.key"));
  expect(signer.sign(folderOfFiles)).toBe("SHA256SUMS.minisig");
  expect(run("minisign", ["-V", "-P", signer.publicKey, "-m", "minisigned/SHA256SUMS"]).status).toBe(0);
});

test("sizes of archives are put between their marks, and nowhere else (R67)", () => {
  const out = join(shelf, "sizes");
  mkdirSync(out);
  writeFileSync(join(out, "pai-1.2.3-linux-x64.tar.gz"), Buffer.alloc(2_400_000));
  writeFileSync(join(out, "pai_1.2.3_amd64.deb"), Buffer.alloc(1_700_000));
  const text = renderSizes(out);
  expect(text).toStartWith("| | .tar.gz | .tar.xz | .deb |\n");
  expect(text).toContain("| linux-x64 | 2 MB | – | 2 MB |\n");
  const page = readFileSync(join(root, "docs/install.md"), "utf8");
  for (const { name } of targets) expect(page).toMatch(new RegExp(`\\| ${name} \\| \\d+ MB \\| \\d+ MB \\| `));
});

const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading);

test("the changelog lists releases by version and day, newest first, below what is not released (R68)", () => {
  const [first, ...released] = headings;
  expect(first).toBe("Unreleased");
  const versions = released.map((heading) => /^(\d+\.\d+\.\d+\S*) \(\d{4}-\d\d-\d\d\)$/.exec(heading)?.[1] ?? heading);
  expect(versions).toEqual([...versions].sort((a, b) => Bun.semver.order(b, a)));
  expect(Bun.semver.satisfies(version, ">=0.1.0")).toBe(true);
  for (const kind of changelog.matchAll(/^### (.*)$/gm))
    expect(["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]).toContain(kind[1] ?? "");
});
