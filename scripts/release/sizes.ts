/** The sizes of a release's archives as a table, for its output and docs/install.md. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { targets } from "./targets.ts";

const [from, to] = ["<!-- sizes -->\n", "<!-- /sizes -->"];

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

/** The text with a new table between its marks. Throws when a mark is missing. */
export function renewSizes(text: string, folder: string): string {
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  if (start < 0 || end < start) throw new Error("docs/install.md has no place for the sizes");
  return `${text.slice(0, start + from.length)}${renderSizes(folder)}${text.slice(end)}`;
}
