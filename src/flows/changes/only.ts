/** Which paths the user named by the globs of --only. */

/** Whether a glob matches a path; `folder/**` also matches the folder itself. */
const names = (glob: string, path: string) =>
  [glob, glob.replace(/\/\*\*$/, "")].some((each) => new Bun.Glob(each).match(path));

/** Whether every group of --only globs has one that matches the path. */
export function withinOnly(only: readonly (readonly string[])[], path: string): boolean {
  return only.every((globs) => globs.some((glob) => names(glob, path)));
}
