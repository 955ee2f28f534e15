/** The owner of a file that a plan changes: replaced by anybody but root, it would belong to him. */
import { PaiError } from "../../core/error.ts";
import type { RelPath } from "../../core/path.ts";
import type { Run } from "../run.ts";

/** A file that would change its owner is asked about. Throws permission_denied where nobody can be asked, and declined. */
export async function requireOwners({ workspace, interactive, decide }: Run, paths: readonly RelPath[]): Promise<void> {
  for (const path of paths) {
    const owner = workspace.lostOwner?.(path) ?? null;
    if (owner === null) continue;
    const what = `${path} belongs to another user (uid ${owner}), and would belong to you once it is changed`;
    if (!interactive)
      throw new PaiError("permission_denied", what, { hint: "run pai as its owner or as root, who keeps owners" });
    const { accept } = await decide({ kind: "changes", text: `${what}. Change it?` });
    if (!accept) throw new PaiError("declined", `${path} was left to its owner; nothing was changed`);
  }
}
