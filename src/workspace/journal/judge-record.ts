/** Judges the paths of a record before a rollback: the rules may have changed since. */

import type { Change } from "../../core/change.ts";
import { judgeNames, type PathRules, whyJudged } from "../../core/closed-names.ts";
import { PaiError } from "../../core/error.ts";
import { nameSome } from "../../core/suggest.ts";
import { showName } from "../parse-path.ts";
import { runFolder, type State } from "./journal.ts";

const maxNamed = 5;

/** No run may write these, so no undo may. Other closed files are allowed: the run had leave. Throws path_refused. */
export function judgeRecord(changes: readonly Change[], rules: PathRules, folder: string): void {
  const paths = new Set(changes.flatMap(({ path, from }) => (from === null ? [path] : [path, from])));
  const denied = [...paths].flatMap((path) => {
    const judged = judgeNames(path, rules);
    if (path !== "" && (judged.class !== "closed" || judged.kind === "secret")) return [];
    return [`${showName(path)} (${showName(judged.name)} ${whyJudged(judged)})`];
  });
  if (denied.length === 0) return;
  const why = `its record names what pai may not write: ${nameSome(denied, maxNamed)}; nothing was touched`;
  const hint = `if the settings allowed that when it ran, set them so again; if not, the record is not pai's: ${folder}`;
  throw new PaiError("path_refused", why, { hint });
}

export const foreignRecord = (state: State, id: string): string =>
  `its record was written by another version of pai or by somebody else, so it is not believed and nothing was touched (${runFolder(state, id)})`;
