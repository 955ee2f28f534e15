/** The list of a trusted project's skills for the model; without skills it costs one system call. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "../../store/places.ts";
import { describeSkills } from "./custom.ts";

/** The list as text; null: no skills, or not trusted. */
export async function tellSkills(places: Places, root: string): Promise<string | null> {
  if (!existsSync(join(root, ".pai"))) return null;
  return describeSkills({ places, root });
}
