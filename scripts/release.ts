/** Makes the files of a release: `bun scripts/release.ts [--version V] [--out DIR] [--targets A,B] [--sign KEY] [--base URL]`. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version as ownVersion } from "../package.json";
import { askGit } from "./compile.ts";
import { packRelease, putInPlace } from "./release/pack.ts";
import { findRuntimeCache, requireSameBun } from "./release/runtime.ts";
import { openSigner } from "./release/sign.ts";
import { chooseTargets, renderSizes } from "./release/targets.ts";

const root = join(import.meta.dir, "..");
const semver = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/** The commit, marked if files differ from it, since such a release cannot be reproduced. */
function describeCommit(): string {
  const commit = askGit("rev-parse", "HEAD");
  if (commit === null) return "unknown";
  if (askGit("status", "--porcelain", "--untracked-files=no") === "") return commit;
  console.error("warning: files differ from the commit; the release is marked as changed");
  return `${commit}-changed`;
}

/** Date of the release in seconds since 1970. Throws if neither the environment nor git gives one. */
function findEpoch(): number {
  const epoch = process.env["SOURCE_DATE_EPOCH"] ?? askGit("log", "-1", "--format=%ct");
  if (epoch === null || !/^\d{1,11}$/.test(epoch)) throw new Error("no commit here: set SOURCE_DATE_EPOCH in seconds");
  return Number(epoch);
}

/** Throws unless the folder is empty or has an earlier release. */
function requireReplaceable(out: string): void {
  if (!existsSync(out) || readdirSync(out).length === 0) return;
  if (existsSync(join(out, "SHA256SUMS")) && existsSync(join(out, "latest"))) return;
  throw new Error(`${out} holds other files; name an empty folder with --out`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      version: { type: "string", default: ownVersion },
      out: { type: "string", default: join(root, "dist/release") },
      targets: { type: "string" },
      sign: { type: "string" },
      base: { type: "string" },
    },
  });
  const started = performance.now();
  const [version, out] = [values.version.replace(/^v/, ""), resolve(values.out)];
  if (!semver.test(version)) throw new Error(`not a version: ${version}; expected 1.2.3 or 1.2.3-rc.1`);
  const targets = chooseTargets(values.targets);
  requireSameBun();
  requireReplaceable(out);
  const signer = values.sign === undefined ? null : openSigner(resolve(values.sign));
  const release = {
    version,
    commit: describeCommit(),
    epoch: findEpoch(),
    targets,
    publicKey: signer?.publicKey ?? null,
    base: values.base ?? null,
  };
  mkdirSync(dirname(out), { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "pai-release-"));
  const making = mkdtempSync(join(dirname(out), ".release-"));
  const clear = () => {
    rmSync(work, { recursive: true, force: true });
    rmSync(making, { recursive: true, force: true });
  };
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)
    process.once(signal, () => {
      clear();
      process.exit(code);
    });
  try {
    await packRelease(release, { out: making, work, cache: findRuntimeCache(process.env) }, console.log);
    if (signer !== null) console.log(`signed: ${signer.sign(making)}`);
    putInPlace(making, out);
  } finally {
    clear();
  }
  console.log(`\npai ${version}, ${release.commit}\n\n${renderSizes(out)}`);
  console.log(`${readdirSync(out).length} files in ${out}, ${Math.round((performance.now() - started) / 1000)} s`);
}

try {
  await main();
} catch (thrown) {
  console.error(`release: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  process.exitCode = 1;
}
