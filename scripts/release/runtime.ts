/** The pinned Bun runtimes: downloaded once from the npm registry, and verified before each use. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import lock from "./runtimes.json";

export interface Runtime {
  /** Name of the npm package. */
  readonly package: string;
  readonly version: string;
  /** From npm: sha512-BASE64 of the package's archive. */
  readonly integrity: string;
}

/** Throws for a target that is missing in the lock file. */
export function findRuntime(target: string): Runtime {
  const found = Object.entries(lock.runtimes).find(([name]) => name === target)?.[1];
  if (found === undefined) throw new Error(`scripts/release/runtimes.json does not name ${target}`);
  return { ...found, version: lock.version };
}

/** Throws unless both versions are equal: the running Bun writes bytecode that the release's runtime reads. */
export function requireSameBun(): void {
  if (Bun.version === lock.version) return;
  throw new Error(`Bun ${Bun.version} runs; scripts/release/runtimes.json pins ${lock.version}`);
}

/** Throws if the archive's hash differs from the lock file. */
export function requireIntegrity(archive: Uint8Array, { integrity, package: name }: Runtime): void {
  const found = `sha512-${new Bun.CryptoHasher("sha512").update(archive).digest("base64")}`;
  if (found !== integrity) throw new Error(`${name} has the integrity ${found}, expected ${integrity}`);
}

/** Folder for archives of runtimes; with them a release needs no network. */
export function findRuntimeCache(env: Readonly<Record<string, string | undefined>>): string {
  const cache = env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache");
  return env["PAI_RUNTIME_CACHE"] || join(cache, "pai-release");
}

function download({ package: name, version }: Runtime, file: string, cache: string): void {
  const making = mkdtempSync(join(cache, ".download-"));
  try {
    const done = spawnSync(
      "npm",
      ["pack", "--silent", "--fetch-retries=1", "--pack-destination", making, `${name}@${version}`],
      {
        cwd: making,
        encoding: "utf8",
      },
    );
    const [archive] = readdirSync(making).filter((found) => found.endsWith(".tgz"));
    if (done.status !== 0 || archive === undefined)
      throw new Error(`npm cannot fetch ${name}@${version}: ${(done.error?.message ?? done.stderr).trim()}`);
    renameSync(join(making, archive), file);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Writes the runtime's executable into a folder and returns its path. */
export async function unpackRuntime(target: string, folder: string, cache: string): Promise<string> {
  const runtime = findRuntime(target);
  const file = join(cache, `${runtime.package.replace("@", "").replace("/", "-")}-${runtime.version}.tgz`);
  mkdirSync(cache, { recursive: true });
  if (!existsSync(file)) download(runtime, file, cache);
  const archive = readFileSync(file);
  try {
    requireIntegrity(archive, runtime);
  } catch (thrown) {
    rmSync(file);
    throw thrown;
  }
  const bun = (await new Bun.Archive(archive).files()).get("package/bin/bun");
  if (bun === undefined) throw new Error(`${file} holds no package/bin/bun`);
  const path = join(folder, `bun-${target}`);
  await Bun.write(path, bun);
  chmodSync(path, 0o755);
  return path;
}
