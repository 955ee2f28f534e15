/** Scans extreme trees and races ripgrep: `prove.ts scale [files depth entries]`, by default 200000 3000 1000000. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openRoot } from "../../src/workspace/confine.ts";
import { search } from "../../src/workspace/search/search.ts";
import { buildTrees, lookAt, surveyTree } from "../../test/workspace/attack/scale.ts";

const longestMs = 10_000;
const maxBytes = 600_000;
const maxTimesRipgrep = 2;
const rounds = 7;

/** Throws when a scan takes too long or prints too much, or when SEARCH takes more than twice as long as ripgrep. */
export async function prove([files = "200000", depth = "3000", entries = "1000000"]: readonly string[]): Promise<void> {
  const trees = buildTrees({ files: Number(files), depth: Number(depth), entries: Number(entries) });
  try {
    console.log("tree | look | ms | answer, bytes | RSS, MB | its last line");
    for (const name of ["wide", "deep", "flat", "odd"]) {
      for (const { action, ms, answerBytes, last } of await lookAt(trees, name)) {
        const memory = Math.round(process.memoryUsage().rss / 1e6);
        console.log([name, action, Math.round(ms), answerBytes, memory, last.slice(0, 70)].join(" | "));
        if (ms > longestMs || answerBytes > maxBytes) throw new Error(`${action} of ${name} is not bounded`);
      }
      const { ms, entries: seen, more, unread } = await surveyTree(trees, name);
      const memory = Math.round(process.memoryUsage().rss / 1e6);
      const left = more ? ", and there are more" : "";
      console.log([name, "survey", Math.round(ms), "", memory, `${seen} entries${left}; ${unread} unread`].join(" | "));
      if (ms > longestMs) throw new Error(`a survey of ${name} is not bounded`);
    }
  } finally {
    trees.remove();
  }
  await compareToRipgrep();
}

/** 20,000 files with about 140 MB of source text; all hits are counted. */
async function compareToRipgrep(): Promise<void> {
  const rg = Bun.which("rg");
  if (rg === null) throw new Error("ripgrep is not installed here: apt-get install ripgrep");
  const folder = mkdtempSync("/dev/shm/pai-search-");
  try {
    for (let n = 0; n < 20_000; n += 1) {
      const at = join(folder, `m${n % 20}/p${n % 200}`);
      if (n < 200) mkdirSync(at, { recursive: true });
      writeFileSync(join(at, `f${n}.ts`), sourceText(n));
    }
    console.log("pattern | hits | SEARCH, ms | ripgrep, ms | ratio (medians)");
    for (const pattern of ["nowhere_to_be_found", "const render 99\\d7", "parse.*render 12[0-9]+;", "TODO|FIXME"]) {
      const { hits, ours, theirs } = await compareOnce(rg, folder, pattern);
      const ratio = ours / theirs;
      console.log([pattern, hits, ours.toFixed(0), theirs.toFixed(0), ratio.toFixed(2)].join(" | "));
      if (ratio > maxTimesRipgrep) throw new Error(`SEARCH takes ${ratio.toFixed(2)} times as long as ripgrep`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareOnce(rg: string, folder: string, pattern: string) {
  const root = openRoot(folder, { force: true, home: null });
  const query = { ignoreCase: false, under: "" as never, include: null, maxHits: 1_000_000, staged: new Map() };
  const [ours, theirs]: [number[], number[]] = [[], []];
  let hits = 0;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    hits = (await search(root, { ...query, pattern }, { allow: [], deny: [] })).hits.length;
    const middle = performance.now();
    const { stdout } = Bun.spawnSync([rg, "-n", "--", pattern, folder]);
    ours.push(middle - start);
    theirs.push(performance.now() - middle);
    const lines = stdout.toString().split("\n").length - 1;
    if (lines !== hits) throw new Error(`${pattern}: ${hits} hits, ripgrep has ${lines}`);
  }
  root.close();
  return { hits, ours: median(ours), theirs: median(theirs) };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const words = "const function return import export await class number string result error render token parse".split(
  " ",
);

function sourceText(seed: number): string {
  let state = seed + 1;
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const word = () => words[next(words.length)];
  const line = () => `  ${word()} ${word()} ${word()} ${word()} ${word()} ${word()} ${next(10_000)};\n`;
  return Array.from({ length: 20 + next(180) }, line).join("");
}
