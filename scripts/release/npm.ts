/** The npm packages: one with the binary for each target, and `paicode`, which starts the right one. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Entry, file, program } from "./archive.ts";
import { type Target, targets } from "./targets.ts";

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const about = {
  license: "MIT",
  description: "pai: a coding agent in one file that shows its plan and can take it back",
  // A new package with a scope is private otherwise, which needs a paid organisation.
  publishConfig: { access: "public" },
};
const packageOf = ({ name }: Target) => `@paicode/${name}`;

/** Files in every package: licence and notices. */
export type Papers = Readonly<Record<string, string>>;

const addPapers = (papers: Papers) => Object.entries(papers).map(([name, text]) => file(`package/${name}`, text));

export function packTarget(target: Target, version: string, binary: Uint8Array, papers: Papers): readonly Entry[] {
  const manifest = { name: packageOf(target), version, ...about, ...target.npm, files: ["pai"], preferUnplugged: true };
  return [file("package/package.json", json(manifest)), program("package/pai", binary), ...addPapers(papers)];
}

export function packMain(version: string, papers: Papers): readonly Entry[] {
  const manifest = {
    name: "paicode",
    version,
    ...about,
    bin: { pai: "bin/pai.cjs" },
    files: ["bin"],
    engines: { node: ">=18" },
    os: ["linux"],
    optionalDependencies: Object.fromEntries(targets.map((target) => [packageOf(target), version])),
  };
  const launcher = readFileSync(join(import.meta.dir, "launcher.cjs"), "utf8");
  return [file("package/package.json", json(manifest)), program("package/bin/pai.cjs", launcher), ...addPapers(papers)];
}
