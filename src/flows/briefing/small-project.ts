/** Shows all of a small project: its files are read once, and nothing is ranked. */
import { isShowable, kindAmong } from "../../core/context/kind.ts";
import { surveyLimits } from "../../core/context/survey-limits.ts";
import { nameOf, type RelPath } from "../../core/path.ts";
import type { Run } from "../run.ts";
import type { ListedProject } from "./list-project.ts";
import { hideSource, type ReadText, type Source } from "./sources.ts";

/** Whether a text in lower case has the name of the file as a word, or as the end of a path. */
function isNamedIn(text: string, path: string): boolean {
  const name = nameOf(path).toLowerCase();
  const at = text.indexOf(name);
  return at >= 0 && !/[\w.-]/.test(text.charAt(at - 1));
}

/** Orders the files that may be shown: those that the request names, then other code, then the rest. */
function orderFiles(paths: readonly string[], request: string) {
  const exists = new Set(paths);
  const lower = request.toLowerCase();
  const files: { path: string; isNamed: boolean; place: number }[] = [];
  for (const path of paths) {
    const kind = kindAmong(path, exists);
    const isNamed = isNamedIn(lower, path);
    const place = isNamed ? 0 : kind === "code" ? 1 : 2;
    if (isNamed || isShowable(path, kind, request)) files.push({ path, isNamed, place });
  }
  return files.sort((a, b) => a.place - b.place);
}

/**
 * All files of a project that are not empty, whole; null: they are too many, together longer than `maxLength`, or the request
 * names one that cannot be shown whole.
 */
export async function readSmallProject(
  run: Run,
  { paths, more }: Pick<ListedProject, "paths" | "more">,
  read: ReadText,
  maxLength: number,
): Promise<readonly Source[] | null> {
  if (more || paths.length > surveyLimits.wholeFiles) return null;
  let left = maxLength;
  const found: Source[] = [];
  for (const { path, isNamed } of orderFiles(paths, run.task.text)) {
    const source = await read(path as RelPath);
    if (source === null && isNamed) return null;
    if (source === null || source.text === "") continue;
    left -= source.text.length + surveyLimits.fileCost;
    if (left < 0) return null;
    found.push(source);
  }
  return found.map((source) => hideSource(run, source));
}
