/** The PATH in which pai searches the user's programs: git, an editor, the notification command. */

/** The absolute folders of a PATH outside the project: a program in the project is not the user's. */
export const pathOutside = (path: string | undefined, root: string): string =>
  (path ?? "/usr/local/bin:/usr/bin:/bin")
    .split(":")
    .filter((folder) => folder.startsWith("/") && folder !== root && !folder.startsWith(`${root}/`))
    .join(":");
