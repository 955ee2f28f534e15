/** Draws a folder tree in few tokens: one line for each folder, with the names of its files. Pure. */

const plain = (name: string) => (/^(?:\p{L}|\p{N}|[._@+=/-])+$/u.test(name) ? name : JSON.stringify(name));

interface Folder {
  /** With a trailing slash; "" for the root. */
  readonly path: string;
  readonly depth: number;
  readonly names: string[];
  total: number;
}

const parentOf = (folder: string) => folder.slice(0, folder.slice(0, -1).lastIndexOf("/") + 1);

/** Groups paths (`a/b.ts`, folders end in `/`) by folder, in order. */
function groupByFolder(paths: readonly string[]): Map<string, Folder> {
  const folders = new Map<string, Folder>();
  const open = (path: string): Folder => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    if (path !== "") open(parentOf(path));
    const folder: Folder = { path, depth: path.split("/").length - 1, names: [], total: 0 };
    folders.set(path, folder);
    return folder;
  };
  open("");
  for (const path of paths) {
    if (path.endsWith("/")) {
      open(path);
      continue;
    }
    const slash = path.lastIndexOf("/") + 1;
    open(path.slice(0, slash)).names.push(path.slice(slash));
  }
  for (const { path, names } of folders.values()) {
    for (let at = path; ; at = parentOf(at)) {
      const folder = folders.get(at);
      if (folder !== undefined) folder.total += names.length;
      if (at === "") break;
    }
  }
  return folders;
}

const extents = [
  { depth: 99, names: 1000 },
  { depth: 99, names: 60 },
  { depth: 99, names: 24 },
  { depth: 4, names: 24 },
  { depth: 3, names: 24 },
  { depth: 3, names: 12 },
  { depth: 2, names: 12 },
  { depth: 2, names: 6 },
  { depth: 1, names: 6 },
  { depth: 1, names: 2 },
  { depth: 0, names: 2 },
] as const;

type Extent = (typeof extents)[number];

/** How many names are shown of an open folder: the root, and one that holds a file that is told. */
const namesOfOpen = 12;

interface Drawing {
  readonly told: ReadonlySet<string>;
  /** Where links lead, by their paths. */
  readonly targets: ReadonlyMap<string, string>;
}

/** The line of a folder; "": all of it is told elsewhere. */
function renderFolder({ path, depth, names, total }: Folder, extent: Extent, isOpen: boolean, drawing: Drawing) {
  const { told, targets } = drawing;
  const others = names.filter((name) => !told.has(path + name));
  const shown = others.slice(0, isOpen ? Math.max(extent.names, namesOfOpen) : extent.names);
  const rest = others.length - shown.length;
  const below = depth >= extent.depth && path !== "" ? total - names.length : 0;
  if (names.length > 0 && others.length + below === 0) return "";
  const counts = `${rest > 0 ? ` +${rest}` : ""}${below > 0 ? ` (${below} files below)` : ""}`;
  const label = path === "" ? "." : plain(path.slice(0, -1));
  const named = shown.map((name) => {
    const target = targets.get(path + name);
    return target === undefined ? plain(name) : `${plain(name)} -> ${plain(target)}`;
  });
  return [`${label}/:`, ...named].join(" ") + counts;
}

/** The lines of the folders, and their length with line feeds; stops after the first line that exceeds the budget. */
function renderFolders(
  folders: ReadonlyMap<string, Folder>,
  extent: Extent,
  open: ReadonlySet<string>,
  drawing: Drawing,
  budget: number,
): { readonly lines: readonly string[]; readonly length: number } {
  const lines: string[] = [];
  let length = 0;
  for (const folder of folders.values()) {
    const { path, depth, names } = folder;
    if ((path === "" && names.length === 0) || (depth > extent.depth && !open.has(path))) continue;
    const line = renderFolder(folder, extent, open.has(path), drawing);
    if (line === "") continue;
    lines.push(line);
    length += line.length + 1;
    if (length > budget + 1) break;
  }
  return { lines, length };
}

/** Within `budget` characters: else with fewer names, levels, folders. Paths in `told` only keep their folder open. */
export function renderTree(
  paths: readonly string[],
  budget: number,
  told: ReadonlySet<string>,
  targets: ReadonlyMap<string, string> = new Map(),
): string {
  const folders = groupByFolder(paths);
  const open = new Set(["", ...[...told].map((path) => path.slice(0, path.lastIndexOf("/") + 1))]);
  let lines: readonly string[] = [];
  for (const extent of extents) {
    const maxLength = extent === extents.at(-1) ? Number.POSITIVE_INFINITY : budget;
    const rendered = renderFolders(folders, extent, open, { told, targets }, maxLength);
    lines = rendered.lines;
    if (rendered.length <= budget + 1) return lines.join("\n");
  }
  let used = 0;
  const kept = lines.filter((line) => {
    used += line.length + 1;
    return used <= budget - 40;
  });
  return [...kept, `(${lines.length - kept.length} more folders not shown)`].join("\n");
}
