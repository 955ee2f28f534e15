/** Says what a change to a steering file leads to, for the person who approves it. Pure. */
import type { Blob, Change } from "../change.ts";
import { describeSteering, findSteering } from "./steering.ts";

/** The scripts of a package.json; null: it is not one. */
function scriptsOf(blob: Blob | null): ReadonlyMap<string, unknown> | null {
  if (blob?.kind !== "file") return null;
  try {
    const { scripts } = JSON.parse(new TextDecoder().decode(blob.bytes)) as { readonly scripts?: unknown };
    return new Map(typeof scripts === "object" && scripts !== null ? Object.entries(scripts) : []);
  } catch {
    return null;
  }
}

function newScripts({ before, after }: Change): readonly string[] {
  const [old, now] = [scriptsOf(before), scriptsOf(after)];
  const changed = [...(now ?? [])].filter(([name, command]) => old?.get(name) !== command);
  return changed.map(([name, command]) => `${name}: ${String(command)}`.replace(/\s+/g, " "));
}

/** Which program or agent runs or obeys a file of this name, as a clause after its path; null: none. */
export function describeReader(path: string): string | null {
  const steering = findSteering(path);
  return steering === null ? null : describeSteering(steering);
}

/** `describeReader` for a change; of a package.json it names only the scripts that are new. */
export function describeLater(change: Change): string | null {
  const reader = change.after?.kind === "file" ? describeReader(change.path) : null;
  if (reader === null || !/(?:^|\/)package\.json$/i.test(change.path)) return reader;
  const scripts = newScripts(change);
  return scripts.length === 0 ? null : `npm will run ${scripts.join("; ")}`;
}
