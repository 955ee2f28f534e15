/** The defects P1 to P93 of Pilot, a coding agent whose behaviour is pai's yardstick: each is tested here or cannot occur. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the test of a defect stands: its number is in the test's name. */
const tested: Readonly<Record<string, readonly number[]>> = {
  "transcript/question-input.test.ts": [1, 2, 5, 6, 78],
  "transcript/session.test.ts": [9, 10, 13, 21],
  "transcript/editor.test.ts": [12],
  "transcript/words.test.ts": [14, 92],
  "transcript/rules.test.ts": [15],
  "transcript/places.test.ts": [91, 93],
  "transcript/tool-session.test.ts": [76, 79, 80, 81, 83, 86],
  "ui/prompt/prompt.test.ts": [16],
  "ui/prompt/question.test.ts": [17],
  "ui/run/terminal.test.ts": [20],
  "ui/amount.test.ts": [20],
  "core/diff-regions.test.ts": [19],
  "core/session.test.ts": [66, 77, 84, 85, 87, 88, 90],
  "store/sessions.test.ts": [88, 89],
  "actions/tools.test.ts": [
    8, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 47,
  ],
  "workspace/meanwhile.test.ts": [44],
  "workspace/transaction.test.ts": [48],
  "workspace/history.test.ts": [82],
  "workspace/shell.test.ts": [7, 49, 50],
  "workspace/command-hygiene.test.ts": [51, 52, 53],
  "flows/tool-loop.test.ts": [18, 45, 46, 55, 56, 57, 64, 65, 70, 71, 72],
  "flows/tool-loop-ending.test.ts": [3, 4, 59],
  "flows/tool-loop-compact.test.ts": [11, 58, 60],
  "flows/tool-loop-commands.test.ts": [54],
  "flows/tool-loop-wires.test.ts": [75],
  "models/contract.ts": [61, 67],
  "models/anthropic/bridge.test.ts": [62, 63],
  "models/openai/bridge.test.ts": [62, 73, 74],
  "models/wire/sse.test.ts": [68],
  "models/retry.test.ts": [69],
};

/** Why the rest of a defect, or a way it shows itself, has no test: it cannot occur in pai. */
const cannotOccur: Readonly<Record<number, string>> = {
  21: "the part about Windows and termios layouts: the runtime sets raw mode, and pai runs on Linux and macOS",
  53: "the part about .env: no such file is ever loaded into the environment",
  92: "the part about Go: the program is compiled from TypeScript; every transcript test starts the binary",
};

const all = Array.from({ length: 93 }, (_, at) => at + 1);

function namesIn(file: string): string {
  const text = readFileSync(join(import.meta.dir, file), "utf8");
  return text
    .split("\n")
    .filter((line) => /["`].*\bP\d+\b/.test(line) && !line.startsWith("/**"))
    .join("\n");
}

test.each(Object.entries(tested))("%s names its defects", (file, numbers) => {
  const names = namesIn(file);
  expect(numbers.filter((number) => !new RegExp(`\\bP${number}\\b`).test(names))).toEqual([]);
});

test("every defect is tested, and what cannot occur is said beside it", () => {
  const found = new Set(Object.values(tested).flat());
  expect(all.filter((number) => !found.has(number))).toEqual([]);
  expect(Object.keys(cannotOccur).every((number) => found.has(Number(number)))).toBe(true);
});
