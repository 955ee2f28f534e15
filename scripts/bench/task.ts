/** The task of the bench: its folder and the model's replies. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes a small project: one file of code to be changed, another one, and two of text. */
export function makeFolder(root: string): void {
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src/area.py"), "def area(r):\n    return 3.14 * r * r\n");
  writeFileSync(join(root, "src/volume.py"), "from area import area\n\n\ndef volume(r, h):\n    return area(r) * h\n");
  writeFileSync(join(root, "README.md"), `# Shapes\n\n${"Areas and volumes of round things. ".repeat(40)}\n`);
  writeFileSync(join(root, ".gitignore"), "build/\n*.pyc\n");
}

const step = { step_number: 1, action: "MODIFY", target: "src/area.py", destination: null, purpose: "a better pi" };
const plan = {
  intent: "task",
  reply: "I'll use math.pi in area().",
  analysis: {
    user_intent: "a better pi",
    target_identification: "area() in src/area.py",
    files_to_read: [],
    files_to_create: [],
    files_to_modify: ["src/area.py"],
    files_to_delete: [],
    risk_assessment: "",
    success_criteria: [],
  },
  execution_plan: { steps: [{ ...step, depends_on: [], expected_outcome: "" }], checks: [], fallback_strategies: [] },
  intelligence_notes: {
    complexity_assessment: "simple",
    estimated_time: "",
    key_challenges: [],
    recommendations: [],
  },
};
const change =
  "MODIFY::src/area.py::EOT\n<<<<<<< SEARCH\n    return 3.14 * r * r\n=======\n    return math.pi * r * r\n" +
  ">>>>>>> REPLACE\n<<<<<<< SEARCH\ndef area(r):\n=======\nimport math\n\n\ndef area(r):\n>>>>>>> REPLACE\nEND::EOT\n";
const finish = "FINISH::EOT\narea() now uses math.pi.\nNEXT: Add a test for area()\nEND::EOT\n";

/** The model's replies: a plan, then the change. */
export const replies: readonly string[] = [JSON.stringify(plan), change + finish];

/** The change as the first answer. */
export const atOnce: readonly string[] = [`FILES: src/area.py\nI'll use math.pi in area().\n\n${change}${finish}`];
/** What proves it. */
export const check = "grep -q math.pi src/area.py";

/** Each run gets a differently worded request, so that no earlier plan is reused. */
export const requestFor = (n: number): string => `use math.pi in area(), please (${n})`;
