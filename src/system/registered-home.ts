/** The home folder that the system registers for this user. */
import { userInfo } from "node:os";

/** null: the user has none; a container may run under a number that no user has. */
export function registeredHome(): string | null {
  try {
    return userInfo().homedir;
  } catch {
    return null;
  }
}
