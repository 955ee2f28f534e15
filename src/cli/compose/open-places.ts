/** The user's folders for this process; without HOME the password database is asked. */
import { userInfo } from "node:os";
import { type Environment, findPlaces, type Places } from "../../store/places.ts";

export function openPlaces(env: Environment): Places {
  return findPlaces(env, { homedir: env["HOME"] === undefined ? registeredHome() : null });
}

function registeredHome(): string | null {
  try {
    return userInfo().homedir;
  } catch {
    // A container may run under a number that no user has.
    return null;
  }
}
