/** The ways to confine commands that work on this machine. */
import { levelOf, type Way, ways } from "../../../src/workspace/sandbox/confinement.ts";
import { defaultSandbox } from "../../../src/workspace/sandbox/settings.ts";
import { newFolder } from "../../grounds.ts";
import { type Need, program } from "../../needs.ts";
import { openBare } from "../bare.ts";

async function isHere(only: Way): Promise<boolean> {
  const base = newFolder("disk", "level");
  const { workspace } = await openBare(base, null, { sandbox: { ...defaultSandbox, only } });
  return (await workspace.sandbox()).level === levelOf(only);
}

const found = new Set<Way>();
for (const way of ways) if (await isHere(way)) found.add(way);

/** Whether a way to confine commands works on this machine. */
export const has = (way: Way): boolean => found.has(way);

const madeOf = { namespaces: "user namespaces", bubblewrap: "bubblewrap", landlock: "Landlock" } as const;

export const confinedBy = (way: Way): Need => ({ name: `a sandbox of ${madeOf[way]}`, isHere: has(way) });

/** Where commands in the sandbox find it. */
export const python: Need = program("python3", "/usr/bin:/bin");
