/** The task of the bench: its folders and the model's replies. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const source = "def area(r):\n    return 3.14 * r * r\n";

export type Folder = "empty" | "small" | "large";

/** Makes the file that the task changes as it is before the task. */
export const resetSource = (root: string): void => writeFileSync(join(root, "src/area.py"), source);

/** A small project has one file of code and a few of text; a large one has 2,000 files more. */
export function makeFolder(root: string, folder: Folder): void {
  mkdirSync(root, { recursive: true });
  if (folder === "empty") return;
  mkdirSync(join(root, "src"));
  resetSource(root);
  writeFileSync(join(root, "src/volume.py"), "from area import area\n\n\ndef volume(r, h):\n    return area(r) * h\n");
  writeFileSync(join(root, "README.md"), `# Shapes\n\n${"Areas and volumes of round things. ".repeat(40)}\n`);
  writeFileSync(join(root, ".gitignore"), "build/\n*.pyc\n");
  if (folder === "small") return;
  for (let at = 0; at < 2000; at += 1) {
    const inner = join(root, `package_${Math.floor(at / 50)}`);
    if (at % 50 === 0) mkdirSync(inner);
    writeFileSync(join(inner, `module_${at}.py`), `def compute_${at}(x):\n    return x + ${at}\n`);
  }
}

function renderPlan(complexity: "simple" | "complex", folder: Folder): string {
  const path = folder === "empty" ? "area.py" : "src/area.py";
  const action = folder === "empty" ? "WRITE" : "MODIFY";
  const step = { step_number: 1, action, target: path, destination: null, purpose: "a better pi" };
  return JSON.stringify({
    intent: "task",
    reply: "I'll use math.pi in area().",
    analysis: {
      user_intent: "a better pi",
      target_identification: `area() in ${path}`,
      files_to_read: [],
      files_to_create: folder === "empty" ? [path] : [],
      files_to_modify: folder === "empty" ? [] : [path],
      files_to_delete: [],
      risk_assessment: "",
      success_criteria: [],
    },
    execution_plan: {
      steps: [{ ...step, depends_on: [], expected_outcome: "" }],
      checks: [],
      fallback_strategies: [],
    },
    intelligence_notes: {
      complexity_assessment: complexity,
      estimated_time: "",
      key_challenges: [],
      recommendations: [],
    },
  });
}

const finish = "FINISH::EOT\narea() now uses math.pi.\nNEXT: Add a test for area()\nEND::EOT\n";
const modify =
  "MODIFY::src/area.py::EOT\n<<<<<<< SEARCH\n    return 3.14 * r * r\n=======\n    return math.pi * r * r\n" +
  ">>>>>>> REPLACE\n<<<<<<< SEARCH\ndef area(r):\n=======\nimport math\n\n\ndef area(r):\n>>>>>>> REPLACE\nEND::EOT\n";
const write = "WRITE::area.py::EOT\nimport math\n\n\ndef area(r):\n    return math.pi * r * r\nEND::EOT\n";

/** The model's replies: a plan, looks for all phases but the last, then the change. */
export function repliesFor(folder: Folder, phases: 1 | 3): readonly string[] {
  const looks = Array.from({ length: phases - 1 }, () => "READ::src/volume.py\n");
  const change = folder === "empty" ? write : modify;
  return [renderPlan(phases === 1 ? "simple" : "complex", folder), ...looks, change + finish];
}

/** Each run gets a differently worded request, so that no earlier plan is reused. */
export const requestFor = (n: number): string => `use math.pi in area(), please (${n})`;
