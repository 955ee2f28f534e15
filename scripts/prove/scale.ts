/** Scans extreme trees: `prove.ts scale [files depth entries]`, by default 200000 3000 1000000. */
import { buildTrees, lookAt, surveyTree } from "../../test/workspace/attack/scale.ts";

const longestMs = 10_000;
const maxBytes = 600_000;

/** Throws when a scan takes too long or prints too much. */
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
}
