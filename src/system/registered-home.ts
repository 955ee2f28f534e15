/** The home folder that the system registers for this user. */

/** null: none; in a container the process may have a user id without an account. */
export function registeredHome(): string | null {
  try {
    // Loaded only if needed: a task with HOME set never loads it.
    const { userInfo }: typeof import("node:os") = require("node:os");
    return userInfo().homedir;
  } catch {
    return null;
  }
}
