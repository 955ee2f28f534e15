/** Repeats in an execution call what planning calls showed: small files, results of looks, and names of the rest. */
import type { FilesRead, Shown } from "./briefing/reading.ts";

/** Characters of files that are shown again, besides the files that the plan names. */
const maxCarried = 12_000;
/** Characters of results of looks that are shown again. */
const maxLooked = 24_000;

interface Kept {
  readonly texts: readonly string[];
  readonly left: readonly string[];
}

/** Keeps the smallest texts that fit, in the order in which they were shown; `left`: paths of the others. */
function keepSmallest(shown: readonly Shown[], maxLength: number): Kept {
  let room = maxLength;
  const kept = new Set<Shown>();
  for (const each of [...shown].sort((a, b) => a.text.length - b.text.length)) {
    if (each.text.length > room) break;
    room -= each.text.length;
    kept.add(each);
  }
  const [texts, left]: [string[], string[]] = [[], []];
  for (const each of shown) {
    if (kept.has(each)) texts.push(each.text);
    else left.push(each.path ?? "the result of a look");
  }
  return { texts, left };
}

/** The texts to repeat. `evidence`: paths that the request shows anyway, which are not repeated. */
export function renderCarried(reading: Readonly<FilesRead>, evidence: ReadonlySet<string>): string {
  const again = new Set<string | null>(evidence);
  const looked = keepSmallest(
    reading.looked.filter(({ path }) => !again.has(path)),
    maxLooked,
  );
  for (const { path } of reading.looked) again.add(path);
  const files = keepSmallest(
    reading.briefed.filter(({ path }) => !again.has(path)),
    maxCarried,
  );
  const left = [...new Set([...looked.left, ...files.left])];
  const note = left.length === 0 ? "" : `Shown before, and left out here: ${left.join(", ")}.`;
  return [...files.texts, ...looked.texts, note].filter(Boolean).join("\n\n");
}
