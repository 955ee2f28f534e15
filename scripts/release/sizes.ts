/** How large the archives of a release are: the table that a release prints, and that README.md shows. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { targets } from "./targets.ts";

const [from, to] = ["<!-- sizes -->\n", "<!-- /sizes -->"];

/** Columns of the table, by the end of a file's name. */
const kinds = [".tar.gz", ".tar.xz", ".deb"] as const;

/** Size in whole megabytes of the file of a target; a dash where the folder has none. */
function sizeOf(folder: string, names: readonly string[], target: string, architecture: string | null, kind: string) {
  const ending = kind === ".deb" ? `_${architecture}.deb` : `-${target}${kind}`;
  const name = names.find((found) => found.endsWith(ending));
  return name === undefined ? "–" : `${(statSync(join(folder, name)).size / 1e6).toFixed(0)} MB`;
}

/** A Markdown table of the archives in the folder of a release. */
export function renderSizes(folder: string): string {
  const names = readdirSync(folder);
  const rows = targets.map(({ name, deb }) => {
    const sizes = kinds.map((kind) => sizeOf(folder, names, name, deb, kind));
    return `| ${[name, ...sizes].join(" | ")} |\n`;
  });
  return `| | ${kinds.join(" | ")} |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

/** The text with the table between its marks. Throws when a mark is missing. */
export function renewSizes(text: string, folder: string): string {
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  if (start < 0 || end < start) throw new Error("README.md has no place for the sizes");
  return `${text.slice(0, start + from.length)}${renderSizes(folder)}${text.slice(end)}`;
}
