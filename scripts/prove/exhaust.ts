/** Proves that pai answers a signal within a second while hostile inputs keep it busy, and then changes nothing. */
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../../test/transcript/gemini.ts";
import { openPlace, type Place } from "../../test/transcript/harness.ts";
import { called, done, planned, talked, write } from "../../test/transcript/replies.ts";

interface Case {
  readonly name: string;
  readonly flags?: readonly string[];
  readonly answers: readonly Answer[];
  readonly prepare?: (place: Place) => void;
  /** The request after which the signal is sent. */
  readonly after: number;
  /** Milliseconds between that request and the signal; one run for each. */
  readonly delays: readonly number[];
}

const many = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("");
const blocks = many(1900, (at) => `<<<<<<< SEARCH\nline ${at * 3}.\n=======\nchanged ${at}\n>>>>>>> REPLACE\n`);
const writes = Array.from({ length: 300 }, (_, at) => ["write", { path: `f${at}.txt`, content: "x\n" }] as const);
const lines = (count: number, word: string) => many(count, (at) => `${word} ${(at * 7919) % count}.\n`);
const slow = { text: "", delayMs: 60_000 };

/** Makes files in folders of 500. */
function makeFiles(place: Place, count: number): void {
  for (let at = 0; at < count; at += 1) {
    const folder = join(place.root, `all/d${Math.floor(at / 500)}`);
    if (at % 500 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `f${at}.txt`), "x\n");
  }
}

const manyFiles = "mkdir new && cd new && seq 1 5000 | while read n; do echo $n >$n.txt; done";
const largeFiles =
  "seq 1 500000 >one && for n in $(seq 50); do (echo $n; head -c 5000000 one) >large$n.txt; done; rm one";
const ran = (command: string) => [planned([["RUN", command]]), done(`RUN::${command}::EOT\nEND::EOT\n`), done("")];
const written = [planned([["WRITE", "a.txt"]]), done(write("a.txt", "a\n"))];

const cases: readonly Case[] = [
  {
    name: "an edit of 1,900 blocks",
    answers: [planned([["MODIFY", "a.txt"]]), done(`MODIFY::a.txt::EOT\n${blocks}END::EOT\n`), talked("")],
    prepare: ({ root }) =>
      writeFileSync(
        join(root, "a.txt"),
        many(6000, (at) => `line ${at}.\n`),
      ),
    after: 2,
    delays: [20, 60, 120],
  },
  {
    name: "a file of 20,000 lines written anew in another order",
    answers: [planned([["WRITE", "a.txt"]]), done(write("a.txt", lines(20_000, "line")))],
    prepare: ({ root }) => writeFileSync(join(root, "a.txt"), lines(20_001, "line")),
    after: 2,
    delays: [20, 150, 400, 800],
  },
  {
    name: "300 new files in one reply",
    flags: ["--mode", "tool-loop"],
    answers: [called(...writes), slow],
    after: 1,
    delays: [20, 100, 300],
  },
  {
    name: "a command that makes 5,000 files",
    flags: ["--allow-run"],
    answers: ran(manyFiles),
    after: 1,
    delays: [100, 200, 400, 700, 1000, 2000],
  },
  {
    name: "a command that makes fifty files of 5 MB",
    flags: ["--allow-run"],
    answers: ran(largeFiles),
    after: 1,
    delays: [300, 800, 1500, 3000, 5000, 7000],
  },
  {
    name: "a folder of 5,000 files deleted",
    answers: [planned([["RM", "all"]]), done("RM::all\n")],
    prepare: (place) => makeFiles(place, 5000),
    after: 2,
    delays: [100, 400, 1000, 2000],
  },
  {
    name: "100,000 files and a slow check after a change",
    flags: ["--no-baseline", "--check", "sleep 60"],
    answers: written,
    prepare: (place) => makeFiles(place, 100_000),
    after: 2,
    delays: [100, 500, 1000, 4000],
  },
  {
    name: "wild ignore rules and a rules file of 1 TiB",
    answers: [slow],
    prepare: ({ root }) => {
      mkdirSync(join(root, "a/".repeat(60)), { recursive: true });
      writeFileSync(join(root, ".gitignore"), `${"**/a/".repeat(20)}**/b\n`);
      writeFileSync(join(root, "a/.gitignore"), "");
      truncateSync(join(root, "a/.gitignore"), 2 ** 40);
    },
    after: 1,
    delays: [300],
  },
  {
    name: "an answer of 250 KB",
    flags: ["--mode", "tool-loop"],
    answers: [
      {
        text: many(2500, (at) => `- point **${at}** of \`many\`, with a [link](https://example.org/${at}) and more\n`),
      },
    ],
    after: 1,
    delays: [20, 100, 300],
  },
];

interface Measured {
  readonly ms: number;
  readonly code: number;
  readonly same: boolean;
}

async function measure({ flags = [], answers, prepare, after }: Case, delay: number): Promise<Measured> {
  const place = openPlace(answers);
  try {
    prepare?.(place);
    const names = () =>
      Bun.spawnSync(["sh", "-c", "find . -path ./.pai_history -prune -o -print | sort; cat a.txt 2>/dev/null"], {
        cwd: place.root,
      }).stdout.toString();
    const before = names();
    const running = place.start(["run", "-y", "--allow-delete", ...flags, "do it"]);
    await place.gemini.arrived(after);
    await Bun.sleep(delay);
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

/** A signal within this many milliseconds of a run's end comes too late. */
const overMs = 250;

interface Try extends Measured {
  readonly delay: number;
  readonly isOver: boolean;
  readonly isRight: boolean;
}

async function tryAt(each: Case, delay: number): Promise<Try> {
  const measured = await measure(each, delay);
  const { ms, code, same } = measured;
  const isOver = code === 0 && ms < overMs;
  return { ...measured, delay, isOver, isRight: isOver || (code === 130 && same && ms <= 1000) };
}

function renderTry({ ms, delay, code, same, isOver, isRight }: Try): string {
  const note = isOver ? " (was over)" : isRight ? "" : ` EXIT ${code}, ${same ? "same" : "CHANGED"}`;
  return `${Math.round(ms)} ms after ${delay}${note}`;
}

export async function prove([part = ""]: readonly string[]): Promise<void> {
  const wrong: string[] = [];
  for (const each of cases.filter(({ name }) => name.includes(part))) {
    const tries: Try[] = [];
    for (const delay of each.delays) tries.push(await tryAt(each, delay));
    const worst = Math.max(0, ...tries.filter(({ isOver }) => !isOver).map(({ ms }) => ms));
    console.log(`${each.name}: at most ${Math.round(worst)} ms (${tries.map(renderTry).join(", ")})`);
    if (!tries.every(({ isRight }) => isRight)) wrong.push(each.name);
  }
  if (wrong.length > 0) throw new Error(`not answered within a second, or changed: ${wrong.join("; ")}`);
}
