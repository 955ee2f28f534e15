/** Proves that pai answers a signal within a second while hostile inputs keep it busy, and that such a run changes nothing. */
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../../test/transcript/gemini.ts";
import { openPlace, type Place } from "../../test/transcript/harness.ts";
import { called, done, planned, talked } from "../../test/transcript/replies.ts";

interface Case {
  readonly name: string;
  readonly flags: readonly string[];
  readonly answers: readonly Answer[];
  readonly prepare: (place: Place) => void;
  /** The request after which the signal is sent. */
  readonly after: number;
}

const many = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("");
const blocks = many(1900, (at) => `<<<<<<< SEARCH\nline ${at * 3}\n=======\nchanged ${at}\n>>>>>>> REPLACE\n`);
const writes = Array.from({ length: 300 }, (_, at) => ["write", { path: `f${at}.txt`, content: "x\n" }] as const);

const cases: readonly Case[] = [
  {
    name: "an edit of 1,900 blocks",
    flags: [],
    answers: [planned([["MODIFY", "a.txt"]]), done(`MODIFY::a.txt::EOT\n${blocks}END::EOT\n`), talked("")],
    prepare: ({ root }) =>
      writeFileSync(
        join(root, "a.txt"),
        many(6000, (at) => `line ${at}\n`),
      ),
    after: 2,
  },
  {
    name: "300 new files in one reply",
    flags: ["--mode", "tool-loop"],
    answers: [called(...writes), { text: "Done.", delayMs: 60_000 }],
    prepare: () => {},
    after: 1,
  },
  {
    name: "20,000 files and a slow check",
    flags: ["--check", "sleep 60"],
    answers: [talked("Hello.")],
    prepare: ({ root }) => {
      for (let at = 0; at < 20_000; at += 1) {
        if (at % 500 === 0) mkdirSync(join(root, `d${at}`));
        writeFileSync(join(root, `d${at - (at % 500)}/f${at}`), "x\n");
      }
    },
    after: 0,
  },
  {
    name: "wild ignore rules and a rules file of 1 TiB",
    flags: [],
    answers: [{ text: "", delayMs: 60_000 }],
    prepare: ({ root }) => {
      mkdirSync(join(root, "a/".repeat(60)), { recursive: true });
      writeFileSync(join(root, ".gitignore"), `${"**/a/".repeat(20)}**/b\n`);
      writeFileSync(join(root, "a/.gitignore"), "");
      truncateSync(join(root, "a/.gitignore"), 2 ** 40);
    },
    after: 1,
  },
];

async function measure({ flags, answers, prepare, after }: Case): Promise<{ ms: number; code: number; same: boolean }> {
  const place = openPlace(answers);
  try {
    prepare(place);
    const names = () =>
      Bun.spawnSync(["sh", "-c", "find . -path ./.pai_history -prune -o -type f -print | sort"], {
        cwd: place.root,
      }).stdout.toString();
    const before = names();
    const running = place.start(["run", "-y", "--no-plan-cache", ...flags, "do it"]);
    if (after > 0) await place.gemini.arrived(after);
    await Bun.sleep(300);
    const sent = performance.now();
    running.kill("SIGINT");
    const { code } = await running.done;
    const ms = performance.now() - sent;
    const same = names() === before;
    Bun.spawnSync(["rm", "-f", "a/.gitignore"], { cwd: place.root });
    return { ms, code, same };
  } finally {
    await place[Symbol.asyncDispose]();
  }
}

export async function prove(): Promise<void> {
  const late: string[] = [];
  for (const each of cases) {
    const { ms, code, same } = await measure(each);
    const isWrong = code !== 130 || !same;
    console.log(`${each.name}: exit ${code} after ${Math.round(ms)} ms, ${same ? "nothing changed" : "CHANGED"}`);
    if (ms > 1000 || isWrong) late.push(each.name);
  }
  if (late.length > 0) throw new Error(`not answered within a second, or changed: ${late.join("; ")}`);
}
