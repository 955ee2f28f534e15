/** The files of a release: archives, packages, notices, bill of materials, and their checksums. */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dependencies } from "../../package.json";
import { compile } from "../compile.ts";
import { renderMan } from "../man.ts";
import { file, folder, gzip, program, tar, xz } from "./archive.ts";
import { findBundled, renderNotices } from "./bundled.ts";
import { debianVersion, packDeb } from "./deb.ts";
import { packMain, packTarget } from "./npm.ts";
import { findRuntime, unpackRuntime } from "./runtime.ts";
import { findSbomFaults, renderSbom } from "./sbom.ts";
import type { Target } from "./targets.ts";

const root = join(import.meta.dir, "../..");

export interface Release {
  readonly version: string;
  readonly commit: string;
  /** Seconds since 1970; the time of every file in every archive. */
  readonly epoch: number;
  readonly targets: readonly Target[];
  /** Compiled into the binaries; null: the release is not signed. */
  readonly publicKey: string | null;
  /** Address for install.sh; null: as in the checkout. */
  readonly base: string | null;
}

interface Folders {
  /** Folder for the files of the release. */
  readonly out: string;
  /** Folder for temporary files. */
  readonly work: string;
  /** Folder that keeps the runtimes. */
  readonly cache: string;
}

interface Built {
  readonly target: Target;
  readonly binary: Buffer;
  readonly metafile: string;
}

interface Papers {
  readonly man: string;
  readonly completions: Readonly<Record<"bash" | "zsh" | "fish", string>>;
  readonly license: string;
  readonly notices: string;
  readonly readme: string;
}

const readText = (name: string): string => readFileSync(join(root, name), "utf8");

async function build(release: Release, target: Target, { work, cache }: Folders): Promise<Built> {
  const { version, commit, publicKey } = release;
  const outfile = join(work, target.name, "pai");
  const runtime = await unpackRuntime(target.name, work, cache);
  const metafile = compile({
    outfile,
    version,
    commit,
    target: target.name,
    bunTarget: target.bun,
    runtime,
    publicKey,
  });
  return { target, binary: readFileSync(outfile), metafile };
}

/** The completion script of a shell, which the program prints. */
function renderCompletion(shell: string): string {
  const done = spawnSync(process.execPath, ["src/main.ts", "completion", shell], { cwd: root, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`pai completion ${shell} failed: ${done.stderr}`);
  return done.stdout;
}

function collectPapers(release: Release, notices: string): Papers {
  const day = new Date(release.epoch * 1000).toISOString().slice(0, 10);
  return {
    man: renderMan(release.version, day),
    completions: { bash: renderCompletion("bash"), zsh: renderCompletion("zsh"), fish: renderCompletion("fish") },
    license: readText("LICENSE"),
    notices,
    readme: readText("README.md"),
  };
}

async function packTar({ version, epoch }: Release, { target, binary }: Built, papers: Papers): Promise<Buffer> {
  const top = `pai-${version}-${target.name}`;
  return await tar(
    [
      folder(`${top}/`),
      program(`${top}/pai`, binary),
      file(`${top}/pai.1`, papers.man),
      folder(`${top}/completions/`),
      file(`${top}/completions/_pai`, papers.completions.zsh),
      file(`${top}/completions/pai.bash`, papers.completions.bash),
      file(`${top}/completions/pai.fish`, papers.completions.fish),
      file(`${top}/LICENSE`, papers.license),
      file(`${top}/README.md`, papers.readme),
      file(`${top}/THIRD_PARTY.md`, papers.notices),
    ],
    epoch,
  );
}

/** The files of one target by name; they are packed at the same time. */
async function packBuilt(
  release: Release,
  built: Built,
  papers: Papers,
): Promise<readonly (readonly [string, Buffer])[]> {
  const { version, epoch } = release;
  const { target, binary } = built;
  const archive = await packTar(release, built, papers);
  const short = { LICENSE: papers.license, "THIRD_PARTY.md": papers.notices };
  const jobs: readonly (readonly [string, Promise<Buffer>])[] = [
    [`pai-${version}-${target.name}.tar.gz`, gzip(archive)],
    [`pai-${version}-${target.name}.tar.xz`, xz(archive)],
    [`paicode-${target.name}-${version}.tgz`, tar(packTarget(target, version, binary, short), epoch).then(gzip)],
    ...(target.deb === null
      ? []
      : [
          [
            `pai_${debianVersion(version)}_${target.deb}.deb`,
            packDeb({ ...papers, version, architecture: target.deb, binary }, epoch),
          ] as const,
        ]),
  ];
  return await Promise.all(jobs.map(async ([name, job]) => [name, await job] as const));
}

async function renderMaterials(
  release: Release,
  metafiles: readonly string[],
): Promise<{ notices: string; sbom: string }> {
  const packages = findBundled(metafiles);
  const runtimes = release.targets.map(({ name }) => findRuntime(name));
  const sbom = renderSbom({ ...release, packages, runtimes, direct: Object.keys(dependencies) });
  const faults = await findSbomFaults(sbom);
  if (faults !== null) throw new Error(`the bill of materials does not follow its schema: ${JSON.stringify(faults)}`);
  return { notices: renderNotices(packages, Bun.version), sbom };
}

/** The installer with its address. */
export function fillInstaller(text: string, base: string | null): string {
  if (base === null) return text;
  if (!/^https?:\/\/[^\s'"$`\\]+$/.test(base)) throw new Error(`--base is not an http address: ${base}`);
  return text.replace(/^base=.*$/m, `base='${base.replace(/\/+$/, "")}'`);
}

export function sumAll(folderOfFiles: string): string {
  const names = readdirSync(folderOfFiles).sort();
  const sum = (name: string) =>
    new Bun.CryptoHasher("sha256").update(readFileSync(join(folderOfFiles, name))).digest("hex");
  return names.map((name) => `${sum(name)}  ${name}\n`).join("");
}

/** Writes every file of the release except the signature. */
export async function packRelease(release: Release, folders: Folders, tell: (text: string) => void): Promise<void> {
  const { version, epoch } = release;
  const put = (name: string, data: string | Uint8Array) => writeFileSync(join(folders.out, name), data);
  const builds: Built[] = [];
  for (const target of release.targets) {
    tell(`compiling ${target.name}`);
    builds.push(await build(release, target, folders));
  }
  const { notices, sbom } = await renderMaterials(
    release,
    builds.map(({ metafile }) => metafile),
  );
  const papers = collectPapers(release, notices);
  // Two at a time: xz takes nearly all the time, and uses one processor.
  for (let at = 0; at < builds.length; at += 2) {
    const pair = builds.slice(at, at + 2);
    tell(`packing ${pair.map(({ target }) => target.name).join(", ")}`);
    const packed = await Promise.all(pair.map(async (built) => await packBuilt(release, built, papers)));
    for (const [name, data] of packed.flat()) put(name, data);
  }
  const short = { LICENSE: papers.license, "README.md": papers.readme };
  put(`paicode-${version}.tgz`, await gzip(await tar(packMain(version, short), epoch)));
  put(`pai-${version}.cdx.json`, sbom);
  put("THIRD_PARTY.md", notices);
  put("install.sh", fillInstaller(readText("scripts/install.sh"), release.base));
  put("latest", `${version}\n`);
  put("SHA256SUMS", sumAll(folders.out));
}

/** Puts a finished folder in the place of another, readable by everybody whatever the umask: it is uploaded as it is. */
export function putInPlace(finished: string, out: string): void {
  for (const name of readdirSync(finished)) {
    const file = join(finished, name);
    chmodSync(file, (statSync(file).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
  chmodSync(finished, 0o755);
  rmSync(out, { recursive: true, force: true });
  renameSync(finished, out);
}
