/** Which files a command may run, by its words alone: a yes to it holds as long as these are what they were (S91). Pure. */

const scripted = ["package.json"];
/** What a tool reads to know what to run. */
const filesOf: ReadonlyMap<string, readonly string[]> = new Map([
  ["npm", scripted],
  ["pnpm", scripted],
  ["yarn", scripted],
  ["bun", scripted],
  ["make", ["Makefile", "makefile", "GNUmakefile"]],
]);

/** Names that may be files of the workspace: every word of the command, and what its tools read. */
export function filesOfCommand(command: string): readonly string[] {
  const words = command.split(/[\s;&|()<>"'`=]+/).filter((word) => word !== "");
  return [...new Set(words.flatMap((word) => [word, ...(filesOf.get(word) ?? [])]))];
}
