/** Turns a change set's unified diff into what editors want: each file whole, before and after. */
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { applyPatch, parsePatch, type StructuredPatch } from "diff";
import type { ChangeSummary } from "../core/outcome.ts";

/** Of larger files only the hunks are shown. */
const maxCharacters = 400_000;

const bare = (name: string | undefined) => (name ?? "").replace(/^[ab]\//, "");

/** One side of all hunks, in the order of the file. */
const sideOf = ({ hunks }: StructuredPatch, sign: "+" | "-") =>
  hunks
    .map(({ lines }) =>
      lines
        .filter((line) => line[0] === " " || line[0] === sign)
        .map((line) => line.slice(1))
        .join("\n"),
    )
    .join("\n…\n");

/** The content after a patch; null: the file is too large, or the patch does not fit (its diff has masked keys). */
function patched(before: string, patch: StructuredPatch): string | null {
  const after = before.length > maxCharacters ? false : applyPatch(before, patch);
  return after === false ? null : after;
}

function readPatches(diff: string): ReadonlyMap<string, StructuredPatch> {
  try {
    return new Map(
      parsePatch(diff).map((patch) => [
        bare(patch.newFileName === "/dev/null" ? patch.oldFileName : patch.newFileName),
        patch,
      ]),
    );
  } catch {
    return new Map();
  }
}

/**
 * One diff for each changed file that is text. `readText`: a file's text before the change; null: it is not text.
 * `absolute`: makes a path absolute that is relative to the root.
 */
export async function describeChanges(
  { changes, diff }: { readonly changes: readonly ChangeSummary[]; readonly diff: string },
  readText: (path: string) => Promise<string | null>,
  absolute: (path: string) => string,
): Promise<ToolCallContent[]> {
  const patches = readPatches(diff);
  const described = changes.map(async ({ path, from, op }) => {
    const before = op === "create" || op === "mkdir" ? null : await readText(from ?? path).catch(() => null);
    const sides = sidesOf(op, before, patches.get(path));
    return sides === null ? [] : [{ type: "diff", path: absolute(path), ...sides } as const];
  });
  return (await Promise.all(described)).flat();
}

/** The text before and after; null: there is none to show. */
function sidesOf(
  op: ChangeSummary["op"],
  before: string | null,
  patch: StructuredPatch | undefined,
): { readonly oldText: string | null; readonly newText: string } | null {
  if (op === "mkdir") return null;
  if (op === "delete") return { oldText: before ?? "", newText: "" };
  // A move alone changes no line.
  if (patch === undefined) return op === "move" ? { oldText: before ?? "", newText: before ?? "" } : null;
  const after = patched(before ?? "", patch);
  return after === null
    ? { oldText: sideOf(patch, "-"), newText: sideOf(patch, "+") }
    : { oldText: before, newText: after };
}
