/** The PATH in which pai looks for the programs of the user: git, an editor, what is told of a run. */

/** Folders of a PATH that are absolute and not the project's own: a program that lies there is not the user's. */
export const pathOutside = (path: string | undefined, root: string): string =>
  (path ?? "/usr/local/bin:/usr/bin:/bin")
    .split(":")
    .filter((folder) => folder.startsWith("/") && folder !== root && !folder.startsWith(`${root}/`))
    .join(":");
