/** Judges the paths of a record before a rollback: the record may be damaged, forged, or older than the rules. */

import type { Change } from "../../core/change.ts";
import { PaiError } from "../../core/error.ts";
import type { PathRules } from "../../core/names.ts";
import { nameSome } from "../../core/suggest.ts";
import { showName } from "../parse-path.ts";
import { judgePath } from "../path-policy.ts";
import { runFolder, type State } from "./journal.ts";

const maxNamed = 5;

/**
 * No run may write a denied path, so no undo may either. Paths that only need approval are allowed: the run had it.
 * `folder` holds the record. Throws path_refused if any path is denied.
 */
export function judgeRecord(changes: readonly Change[], rules: PathRules, folder: string): void {
  const uses = new Map(
    changes.flatMap(({ path, before, after, from }) => {
      const use = (after ?? before)?.kind === "folder" ? "folder" : "write";
      return [[path, use] as const, ...(from === null ? [] : [[from, use] as const])];
    }),
  );
  const denied = [...uses].flatMap(([path, use]) => {
    const verdict = judgePath(path, use, rules);
    return verdict.verdict === "deny" ? [`${showName(path)} (${verdict.why})`] : [];
  });
  if (denied.length === 0) return;
  throw new PaiError(
    "path_refused",
    `its record names what pai may not write: ${nameSome(denied, maxNamed)}; nothing was touched`,
    { hint: `if the settings allowed that when it ran, set them so again; if not, the record is not pai's: ${folder}` },
  );
}

/** Why a record without this pai's seal is ignored, as a clause. */
export const foreignRecord = (state: State, id: string): string =>
  `its record was written by another version of pai or by somebody else, so it is not believed and nothing was touched (${runFolder(state, id)})`;
