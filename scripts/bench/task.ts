/** The task of the bench: its folder and the model's replies. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, modify, plan } from "../../test/flows/plans.ts";

/** Makes a small project: one file of code to be changed, another one, and two of text. */
export function makeFolder(root: string): void {
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src/area.py"), "def area(r):\n    return 3.14 * r * r\n");
  writeFileSync(join(root, "src/volume.py"), "from area import area\n\n\ndef volume(r, h):\n    return area(r) * h\n");
  writeFileSync(join(root, "README.md"), `# Shapes\n\n${"Areas and volumes of round things. ".repeat(40)}\n`);
  writeFileSync(join(root, ".gitignore"), "build/\n*.pyc\n");
}

const task = plan({ steps: ["MODIFY src/area.py"], purpose: "a better pi", reply: "I'll use math.pi in area()." });
const change = modify(
  "src/area.py",
  ["    return 3.14 * r * r\n", "    return math.pi * r * r\n"],
  ["def area(r):\n", "import math\n\n\ndef area(r):\n"],
);
const end = finish("area() now uses math.pi.\nNEXT: Add a test for area()");

/** The model's replies: a plan, then the change. */
export const replies: readonly string[] = [task, change + end];

/** The change as the first answer. */
export const atOnce: readonly string[] = [`FILES: src/area.py\nI'll use math.pi in area().\n\n${change}${end}`];
/** What proves it. */
export const check = "grep -q math.pi src/area.py";

/** Each run gets a differently worded request, so that no earlier plan is reused. */
export const requestFor = (n: number): string => `use math.pi in area(), please (${n})`;
