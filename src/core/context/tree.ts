/** A folder's files in few tokens: one line a folder, names beside each other. Pure. */

/** A name as it is, or quoted as JSON where spaces or signs would make two of it. */
const plain = (name: string) => (/^[\p{L}\p{N}._@+=/-]+$/u.test(name) ? name : JSON.stringify(name));

/** Groups paths (`a/b.ts`, folders end in `/`) by folder, in order. */
function groupByFolder(paths: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>([["..", []]]);
  for (const path of paths) {
    if (path.endsWith("/")) {
      if (!groups.has(path)) groups.set(path, []);
      continue;
    }
    const slash = path.lastIndexOf("/");
    const folder = slash < 0 ? ".." : path.slice(0, slash + 1);
    const names = groups.get(folder) ?? [];
    names.push(path.slice(slash + 1));
    groups.set(folder, names);
  }
  return groups;
}

function renderGroups(
  groups: ReadonlyMap<string, readonly string[]>,
  most: number,
  keep: ReadonlySet<string>,
): string[] {
  return [...groups].flatMap(([folder, names]) => {
    if (folder === ".." && names.length === 0) return [];
    const prefix = folder === ".." ? "" : folder;
    const shown = names.filter((name, at) => at < most || keep.has(prefix + name));
    const rest = names.length - shown.length;
    return `${plain(folder.slice(0, -1))}/:${shown.map((name) => ` ${plain(name)}`).join("")}${rest > 0 ? ` +${rest}` : ""}`;
  });
}

/**
 * Renders the tree within `budget` characters: first fewer names a folder, then fewer folders, and says what is left out.
 * Paths in `keep` are never left out of their folder's line.
 */
export function renderTree(paths: readonly string[], budget: number, keep: ReadonlySet<string>): string {
  const groups = groupByFolder(paths);
  let lines: string[] = [];
  for (const most of [1000, 60, 24, 12, 6, 3]) {
    lines = renderGroups(groups, most, keep);
    if (lines.join("\n").length <= budget) return lines.join("\n");
  }
  let used = 0;
  const kept = lines.filter((line) => {
    used += line.length + 1;
    return used <= budget - 40;
  });
  return [...kept, `(${lines.length - kept.length} more folders not shown)`].join("\n");
}
