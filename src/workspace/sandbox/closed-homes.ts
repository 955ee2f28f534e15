/** Closes the home to commands, but for folders of tools and caches. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { entryAt } from "../../system/entry-at.ts";
import { otherHomes, ownHomes } from "../../system/homes.ts";
import { entriesOf } from "../../system/lookups.ts";
import type { Hidden } from "./confinement.ts";
import { contains, isSystemPath, openUp } from "./folders.ts";
import { isPrivate } from "./namespaces.ts";

/** All paths are absolute and real. */
export interface ClosedHomes {
  /** Folders that are closed as a whole; what is seen of them is in `tools` and `caches`. */
  readonly covered: readonly string[];
  readonly tools: readonly string[];
  readonly caches: readonly string[];
  /** Credentials in these folders; of a home that the project holds, everything with a dot. */
  readonly hidden: readonly Hidden[];
}

export interface HomeOptions {
  /** Real path. */
  readonly workspace: string;
  readonly home: string | null;
  readonly isRoot: boolean;
  /** Paths that the user opens; a home among them, or below one, is not closed. */
  readonly open: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Written by tools; what a command writes there is discarded. */
const cacheNames = words(".cache .npm .cargo go .m2 .gradle .nuget .bun .deno .pub-cache");
/** What versions of programs and libraries are installed in. */
const toolNames = words(`bin .local/bin .local/lib .local/share/mise .local/share/pipx .local/share/pnpm .local/share/uv
  .nvm .pyenv .rbenv .rustup .asdf .sdkman .volta .dotnet miniconda3`);
const credentials = words(`.cargo/credentials .cargo/credentials.toml .m2/settings.xml .m2/settings-security.xml
  .gradle/gradle.properties .nuget/NuGet/NuGet.Config .cache/huggingface/token .cache/git/credential`);

/** For root the homes of all people are closed. */
export function findClosedHomes({ workspace, home, isRoot, open }: HomeOptions): ClosedHomes {
  const own = [...new Set(ownHomes(home).flatMap(realFolder))];
  const others = isRoot ? ["/home", ...otherHomes(home)].flatMap(realFolder) : [];
  const closed = [...own, ...others].filter(
    (each) => !isSystemPath(each) && !isPrivate(each) && !open.some((path) => contains(path, each)),
  );
  const covered = withoutInner(closed.filter((each) => !contains(workspace, each)));
  const seen = own.filter((each) => covered.some((folder) => contains(folder, each)));
  const foldersIn = (homes: readonly string[], names: readonly string[]) =>
    homes.flatMap((each) => names.flatMap((name) => folderAt(join(each, name))));
  const held = own.filter((each) => contains(workspace, each) && closed.includes(each));
  const shown = [...foldersIn(held, toolNames), ...foldersIn(held, cacheNames)];
  return {
    covered,
    tools: foldersIn(seen, toolNames),
    caches: foldersIn(seen, cacheNames),
    hidden: [
      ...[...seen, ...held].flatMap((each) => credentials.map((name) => join(each, name))).flatMap(hiddenAt),
      ...shown.reduce(openUp, held.flatMap(dotNamesIn)),
    ],
  };
}

const withoutInner = (folders: readonly string[]): readonly string[] =>
  folders.filter((each) => !folders.some((other) => other !== each && contains(other, each)));

function realFolder(path: string): readonly string[] {
  try {
    return folderAt(realpathSync(path));
  } catch {
    // There is none, or this user may not enter it.
    return [];
  }
}

/** A folder that is no link: what a link leads to is seen where it is, or is closed there. */
function folderAt(path: string): readonly string[] {
  try {
    return entryAt(path)?.isDirectory() === true ? [path] : [];
  } catch {
    return [];
  }
}

function hiddenAt(path: string): readonly Hidden[] {
  const stat = entryAt(path);
  return stat === undefined ? [] : [{ path, isFolder: stat.isDirectory() }];
}

/** A project that is a home, or holds one, cannot be covered: then all that begins with a dot is hidden one by one. */
const dotNamesIn = (home: string): readonly Hidden[] =>
  entriesOf(home)
    .filter(({ name }) => name.startsWith(".") && !name.startsWith(".git"))
    .map((entry) => ({ path: join(home, entry.name), isFolder: entry.isDirectory() }));
