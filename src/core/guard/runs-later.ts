/** What a change makes run later, when somebody starts a tool of the project: it deserves a second look. Pure. */
import type { Blob, Change } from "../change.ts";

/** Files that are code to the tool that reads them, by their names in lower case. */
const runners: ReadonlyMap<string, string> = new Map([
  ["makefile", "make"],
  ["gnumakefile", "make"],
  ["justfile", "just"],
  ["rakefile", "rake"],
  ["conftest.py", "pytest"],
  ["setup.py", "pip"],
  ["noxfile.py", "nox"],
  ["build.rs", "cargo"],
  ["build.gradle", "gradle"],
  ["build.gradle.kts", "gradle"],
  ["gulpfile.js", "gulp"],
  ["pnpm-workspace.yaml", "pnpm"],
]);

/** The scripts of a package.json; null: it is none. */
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

/** Who runs what stands in a file of this name, as a clause after its path; null: nobody. */
export function describeReader(path: string): string | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const runner = runners.get(name);
  if (runner !== undefined) return `${runner} runs what stands in it`;
  return name === "package.json" ? "npm runs its scripts" : null;
}

/** The same for a change: of a package.json only what is new in its scripts counts. */
export function describeLater(change: Change): string | null {
  const reader = change.after?.kind === "file" ? describeReader(change.path) : null;
  if (reader === null || !/package\.json$/i.test(change.path)) return reader;
  const scripts = newScripts(change);
  return scripts.length === 0 ? null : `npm will run ${scripts.join("; ")}`;
}
