/** The home folder that the system registers for this user. */

/** null: the user has none; a container may run under a number that no user has. */
export function registeredHome(): string | null {
  try {
    // Loaded where it is asked for: a task that knows its HOME never loads it.
    const { userInfo }: typeof import("node:os") = require("node:os");
    return userInfo().homedir;
  } catch {
    return null;
  }
}
