/** The packages in the binary, according to the bundler, with data from the lock file and the packages; and THIRD_PARTY.md. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX identifier or expression from the package. */
  readonly license: string;
  /** From the lock file: sha512-BASE64. */
  readonly integrity: string;
  /** Texts of its licence files and notice. */
  readonly texts: readonly string[];
  /** Names of bundled packages that it depends on. */
  readonly needs: readonly string[];
}

interface Metafile {
  readonly outputs: Readonly<
    Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
  >;
}

type LockedPackage = readonly [
  id: string,
  registry: string,
  about: { readonly dependencies?: Readonly<Record<string, string>> },
  integrity: string,
];

/** Folders below node_modules with code in the bundle, from Bun's metafile. */
function findFolders(metafile: string): readonly string[] {
  const { outputs } = JSON.parse(metafile) as Metafile;
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const folders = inputs.flatMap(([path, { bytesInOutput }]) => {
    const [found] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    return found === undefined || bytesInOutput === 0 ? [] : [found.slice(found.indexOf("node_modules/"))];
  });
  return folders;
}

function readLicenses(folder: string): readonly string[] {
  const names = readdirSync(join(root, folder)).filter((name) => /^(licen[cs]e|copying|notice)\b/i.test(name));
  return names.sort().map((name) => readFileSync(join(root, folder, name), "utf8").trim());
}

/** Throws for a package that is missing in the lock file or has no licence. */
export function findBundled(metafiles: readonly string[]): readonly BundledPackage[] {
  const lock = Bun.JSONC.parse(readFileSync(join(root, "bun.lock"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const folders = [...new Set(metafiles.flatMap(findFolders))].sort();
  const nameOf = (folder: string) => folder.replace(/^.*node_modules\//, "");
  const inBundle = new Set(folders.map(nameOf));
  return folders.map((folder) => {
    const about = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
      readonly name: string;
      readonly version: string;
      readonly license?: string;
    };
    const locked = Object.values(lock.packages).find(([id]) => id === `${about.name}@${about.version}`);
    if (locked === undefined) throw new Error(`bun.lock does not name ${about.name}@${about.version}`);
    if (about.license === undefined) throw new Error(`${about.name} names no licence`);
    const [, , { dependencies = {} }, integrity] = locked;
    return {
      name: about.name,
      version: about.version,
      license: about.license,
      integrity,
      texts: readLicenses(folder),
      needs: Object.keys(dependencies).filter((name) => inBundle.has(name)),
    };
  });
}

/** The file for a release with this version of Bun. */
export function renderNotices(packages: readonly BundledPackage[], bunVersion: string): string {
  const rows = packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |\n`);
  const texts = packages.map(({ name, version, license, texts: found }) => {
    const body = found.length === 0 ? [`(The package holds no text of its licence, ${license}.)`] : found;
    return `### ${name} ${version}\n\n${body.map((text) => `\`\`\`text\n${text}\n\`\`\`\n`).join("\n")}`;
  });
  const runtime = readFileSync(join(import.meta.dir, "runtime-notices.md"), "utf8");
  return [
    "# Third-party software in pai\n\nMade by scripts/release.ts from bun.lock and from what the bundler put into the binary.\n",
    `## Packages\n\n| package | version | licence |\n| --- | --- | --- |\n${rows.join("")}`,
    `## Runtime: Bun ${bunVersion}\n\n${runtime}`,
    "## Texts of the packages' licences\n",
    ...texts,
  ].join("\n");
}
