/** Tasks and replies for evaluations in the built binary. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "./harness.ts";
import { done, planned, write } from "./replies.ts";

/** Needs only sh: the solution is a word in a file. */
export const task = {
  prompt: "Write yes into answer.txt",
  hidden: ["check.sh"],
  solution: ["answer.txt"],
  check: "sh check.sh",
};
export const files = {
  "files/answer.txt": "yes\n",
  "files/check.sh": "grep -qx yes answer.txt\n",
  "files/README.md": "# task\n",
};

export function layTask(place: Place, name: string, more: object = {}): string {
  const folder = join(place.spare, "tasks", name);
  for (const [path, text] of Object.entries({ ...files, "task.json": JSON.stringify({ ...task, ...more }) })) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export function layReplies(place: Place, target: string, text: string): string {
  const replies = [planned([`WRITE ${target}`]), done(write(target, `${text}\n`))];
  const file = join(place.spare, `${target}.jsonl`);
  writeFileSync(file, replies.map((reply) => `${JSON.stringify(reply)}\n`).join(""));
  return file;
}

export const dataOf = (stdout: string) => JSON.parse(stdout).data;
