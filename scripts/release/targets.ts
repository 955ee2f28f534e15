/** The targets of a release, with the names that Bun, Debian and npm use. */

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
