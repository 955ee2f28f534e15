/** THIRD_PARTY.md: authors, licences and licence texts of the code in the binary. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BundledPackage } from "./bundled.ts";

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
