/** The targets of a release, with the names that Bun, Debian and npm use, and the sizes of their archives. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export interface Target {
  /** Part of file names: linux-x64-musl. */
  readonly name: string;
  readonly bun: string;
  /** Debian's name of the architecture; null: there is no Debian package. */
  readonly deb: string | null;
  readonly npm: { readonly os: readonly string[]; readonly cpu: readonly string[]; readonly libc: readonly string[] };
}

const npm = (cpu: string, libc: string): Target["npm"] => ({ os: ["linux"], cpu: [cpu], libc: [libc] });

/** x64 uses the baseline runtime, which needs no AVX. */
export const targets: readonly Target[] = [
  { name: "linux-x64", bun: "bun-linux-x64-baseline", deb: "amd64", npm: npm("x64", "glibc") },
  { name: "linux-arm64", bun: "bun-linux-arm64", deb: "arm64", npm: npm("arm64", "glibc") },
  { name: "linux-x64-musl", bun: "bun-linux-x64-musl-baseline", deb: null, npm: npm("x64", "musl") },
  { name: "linux-arm64-musl", bun: "bun-linux-arm64-musl", deb: null, npm: npm("arm64", "musl") },
];

/** The targets with these names, separated by commas. Throws for an unknown name. */
export function chooseTargets(names: string | undefined): readonly Target[] {
  if (names === undefined) return targets;
  return names.split(",").map((name) => {
    const found = targets.find((target) => target.name === name);
    if (found === undefined)
      throw new Error(`unknown target: ${name}; there are ${targets.map((target) => target.name).join(", ")}`);
    return found;
  });
}

/** Columns of the table, by file extension. */
const kinds = [".tar.gz", ".tar.xz", ".deb"] as const;

/** Size of a target's file in whole megabytes; a dash if there is none. */
function sizeOf(folder: string, names: readonly string[], target: string, architecture: string | null, kind: string) {
  const ending = kind === ".deb" ? `_${architecture}.deb` : `-${target}${kind}`;
  const name = names.find((found) => found.endsWith(ending));
  return name === undefined ? "–" : `${(statSync(join(folder, name)).size / 1e6).toFixed(0)} MB`;
}

/** A Markdown table of the archives in a release's folder. */
export function renderSizes(folder: string): string {
  const names = readdirSync(folder);
  const rows = targets.map(({ name, deb }) => {
    const sizes = kinds.map((kind) => sizeOf(folder, names, name, deb, kind));
    return `| ${[name, ...sizes].join(" | ")} |\n`;
  });
  return `| | ${kinds.join(" | ")} |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}
