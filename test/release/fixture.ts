/** A small release to install from, and the installer as a shell runs it. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { file, folder, gzip, program, tar } from "../../scripts/release/archive.ts";

export const installer = join(import.meta.dir, "../../scripts/install.sh");
const epoch = 1_790_000_000;

/** A shell script that answers as the binary does; `more` is what else it does. */
export const standIn = (version: string, more = ""): string => `#!/bin/sh\n${more}\necho "pai ${version}"\n`;

export async function makeArchive(version: string, target: string, text: string): Promise<Buffer> {
  const top = `pai-${version}-${target}`;
  const papers = file(`${top}/LICENSE`, "free\n");
  return await gzip(await tar([folder(`${top}/`), program(`${top}/pai`, text), papers], epoch));
}

export const sha256 = (data: Uint8Array | string): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");

/** Targets that a machine of the tests may ask for. */
const targets = ["linux-x64", "linux-arm64", "linux-x64-musl", "linux-arm64-musl"];

/** Writes archives for every target, their sums and `latest` into a folder, as a release does. */
export async function makeRelease(place: string, version: string, text = standIn(version)): Promise<string> {
  mkdirSync(place, { recursive: true });
  const sums = await Promise.all(
    targets.map(async (target) => {
      const name = `pai-${version}-${target}.tar.gz`;
      const data = await makeArchive(version, target, text);
      writeFileSync(join(place, name), data);
      return `${sha256(data)}  ${name}\n`;
    }),
  );
  writeFileSync(join(place, "SHA256SUMS"), sums.join(""));
  writeFileSync(join(place, "latest"), `${version}\n`);
  return place;
}

/** Runs a program to its end; what it wrote on both streams. */
export function run(command: string, args: readonly string[], cwd: string, env?: Readonly<Record<string, string>>) {
  const options = { cwd, encoding: "utf8", maxBuffer: 1e9, ...(env === undefined ? {} : { env }) } as const;
  const { stdout, stderr, status } = spawnSync(command, [...args], options);
  return { out: `${stdout}${stderr}`, status };
}

export type Desk = ReturnType<typeof openDesk>;

interface InstallOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The shell with its arguments; what runs the script. */
  readonly shell?: readonly string[];
  /** The script; absent: the one of the checkout. */
  readonly script?: string;
  readonly cwd?: string;
}

export function openDesk() {
  const root = mkdtempSync(join(tmpdir(), "pai-install-"));
  const home = join(root, "home");
  mkdirSync(home);
  return {
    root,
    /** Where most of them install to. */
    to: join(root, "bin"),
    /** Runs the installer. The environment is empty but for PATH and HOME. */
    async install(
      args: readonly string[],
      { env = {}, shell = ["/bin/sh"], script = installer, cwd = root }: InstallOptions = {},
    ) {
      const child = Bun.spawn([...shell, script, ...args], {
        cwd,
        env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, ...env },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { code, stdout, stderr };
    },
    /** A folder for PATH with nothing but these programs. */
    tools(names: readonly string[]) {
      const bin = mkdtempSync(join(root, "bin-"));
      for (const name of names) symlinkSync(Bun.which(name) ?? `/missing/${name}`, join(bin, name));
      return bin;
    },
    [Symbol.dispose]() {
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A desk with a release to install from. */
export async function openStocked(version: string, text?: string) {
  const desk = openDesk();
  return { ...desk, from: await makeRelease(join(desk.root, "release"), version, text) };
}

/** Names in a folder; null where there is none. */
export const namesIn = (path: string): readonly string[] | null => (existsSync(path) ? readdirSync(path).sort() : null);
