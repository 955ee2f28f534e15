/** The PATH in which pai looks for the user's programs: git, an editor, the one that is notified of a run's end. */

/** Folders of a PATH that are absolute and not the project's own: a program that lies there is not the user's. */
export const pathOutside = (path: string | undefined, root: string): string =>
  (path ?? "/usr/local/bin:/usr/bin:/bin")
    .split(":")
    .filter((folder) => folder.startsWith("/") && folder !== root && !folder.startsWith(`${root}/`))
    .join(":");
