/** The home folders of a machine's users. */
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { orNull } from "../core/error.ts";
import { entriesOf, entryAt, textOfSystem } from "./lookups.ts";

const firstPerson = 1000;
const nobody = 65534;

export function ownHomes(home: string | null): readonly string[] {
  return [...new Set([home, registeredHome()].filter((each) => each !== null))];
}

/** Of all others: people who may log in, root, and whoever has a folder in /home. */
export function otherHomes(home: string | null): readonly string[] {
  const folders = entriesOf("/home").flatMap((entry) => (entry.isDirectory() ? [join("/home", entry.name)] : []));
  const own = new Set(ownHomes(home));
  return [...new Set(["/root", ...folders, ...homesOfUsers()])].filter((each) => !own.has(each));
}

function homesOfUsers(): readonly string[] {
  return textOfSystem("/etc/passwd")
    .split("\n")
    .flatMap((line) => {
      const [, , id = "", , , home = ""] = line.split(":");
      if (!isAbsolute(home) || home === "/") return [];
      const isPerson = Number(id) >= firstPerson && Number(id) !== nobody;
      return isPerson || hasKeys(home) ? [home] : [];
    });
}

const hasKeys = (home: string): boolean => (orNull(() => entryAt(join(home, ".ssh"))) ?? null) !== null;

/** null: none; in a container the process may have a user id without an account. */
export const registeredHome = (): string | null => orNull(() => userInfo().homedir);
