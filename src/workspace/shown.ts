/** Files and folders outside the project that the user shows: read by absolute paths, and never changed. */
import { realpathSync, statSync } from "node:fs";
import { PaiError } from "../core/error.ts";
import type { RelPath } from "../core/path.ts";
import type { Entry, View } from "../core/ports.ts";
import { showName } from "./parse-path.ts";

/** A file or folder that is shown. */
export interface ShownPlace {
  /** Real path of the folder that was opened: the folder itself, or that of the file. */
  readonly base: string;
  /** The file; null: the whole folder. */
  readonly only: RelPath | null;
  /** The path as it was given, without links resolved. */
  readonly given: string;
  readonly view: View;
  readonly close: () => void;
}

/** What a path that the user gave names. Throws usage for what does not exist or is no file or folder. */
export function findShown(given: string): { readonly base: string; readonly only: RelPath | null } {
  try {
    const real = realpathSync(given);
    const stat = statSync(real);
    if (stat.isDirectory()) return { base: real, only: null };
    const cut = real.lastIndexOf("/");
    if (stat.isFile()) return { base: real.slice(0, cut) || "/", only: real.slice(cut + 1) as RelPath };
  } catch (cause) {
    throw new PaiError("usage", `${showName(given)} cannot be shown: it does not exist, or is closed to this user`, {
      cause,
    });
  }
  throw new PaiError("usage", `${showName(given)} cannot be shown: it is no file and no folder`);
}

const joined = (base: string, path: string): RelPath =>
  (path === "" ? base : `${base === "/" ? "" : base}/${path}`) as RelPath;

/** The path within a folder; "": the folder itself, null: it is not in it. */
export const pathWithin = (path: string, base: string): string | null =>
  path === base
    ? ""
    : path.startsWith(base === "/" ? "/" : `${base}/`)
      ? path.slice(base.length).replace(/^\/+/, "")
      : null;

/** A place with the path within it. */
interface Found {
  readonly place: ShownPlace;
  readonly path: RelPath;
}

/** The view with the shown places beside it; their paths are absolute. */
export function withShown(view: View, places: readonly ShownPlace[]): View {
  if (places.length === 0) return view;
  const find = (text: string): Found | null => {
    for (const place of places) {
      const path = pathWithin(text, place.base);
      if (path !== null && (place.only === null || place.only === path)) return { place, path: path as RelPath };
      if (text === place.given) return { place, path: place.only ?? ("" as RelPath) };
    }
    return null;
  };
  const entryOf = ({ base }: ShownPlace, entry: Entry): Entry => {
    const path = joined(base, entry.path);
    return {
      path,
      kind: entry.kind,
      target: entry.target,
      get size() {
        return entry.size;
      },
      get changed() {
        return entry.changed ?? 0;
      },
    };
  };
  const onPlace = <T>(path: RelPath, there: (found: Found) => T, here: () => T): T => {
    const found = path.startsWith("/") ? find(path) : null;
    return found === null ? here() : there(found);
  };
  return {
    path(text, use) {
      const found = text.startsWith("/") ? find(text.replace(/(?<=.)\/+$/, "")) : null;
      if (found === null) return view.path(text, use);
      if (use !== "read" && use !== "list")
        throw new PaiError("path_refused", `${showName(text)} is outside the project: it is shown, and never changed`);
      const { place, path } = found;
      if (path !== "") place.view.path(path, use);
      return joined(place.base, path);
    },
    read: (path, limit) =>
      onPlace(
        path,
        (found) =>
          found.path === ""
            ? Promise.resolve({ kind: "folder", mode: 0o755 })
            : found.place.view.read(found.path, limit),
        () => view.read(path, limit),
      ),
    readLines: (path, from, to) =>
      onPlace(
        path,
        (found) => found.place.view.readLines(found.path, from, to),
        () => view.readLines(path, from, to),
      ),
    readEnds: (path, lines) =>
      onPlace(
        path,
        (found) => found.place.view.readEnds(found.path, lines),
        () => view.readEnds(path, lines),
      ),
    list: (folder) =>
      onPlace(
        folder,
        async ({ place, path }) => (await place.view.list(path)).map((entry) => entryOf(place, entry)),
        () => view.list(folder),
      ),
    async *walk(folder, signal, unreadable) {
      const found = folder.startsWith("/") ? find(folder) : null;
      if (found === null) return yield* view.walk(folder, signal, unreadable);
      const { place, path } = found;
      const told = unreadable && ((each: RelPath) => unreadable(joined(place.base, each)));
      for await (const entry of place.view.walk(path, signal, told)) yield entryOf(place, entry);
    },
    ...(view.follow !== undefined && { follow: view.follow }),
    inside: (folder) => view.inside(folder),
    ...(view.host !== undefined && { host: view.host }),
    alsoShown: places.map(({ base, only }) => joined(base, only ?? "")),
    search: (query, signal) =>
      onPlace(
        query.under,
        async ({ place, path }) => {
          const known = query.known && ((each: RelPath) => query.known?.(joined(place.base, each)) ?? each);
          const staged = new Map(
            [...query.staged].flatMap(([each, bytes]) => {
              const within = pathWithin(each, place.base);
              return within === null ? [] : [[within as RelPath, bytes] as const];
            }),
          );
          const { known: _known, ...rest } = query;
          const report = await place.view.search(
            { ...rest, under: path, staged, ...(known !== undefined && { known }) },
            signal,
          );
          return { ...report, hits: report.hits.map((hit) => ({ ...hit, path: joined(place.base, hit.path) })) };
        },
        () =>
          view.search(
            { ...query, staged: new Map([...query.staged].filter(([path]) => !path.startsWith("/"))) },
            signal,
          ),
      ),
  };
}
