#!/usr/bin/env bun
/** argv in, exit code out. */
import { renderVersion } from "./cli/commands/version.ts";

const argv = process.argv.slice(2);

/** What can be answered without reading the command line; null: everything else. */
async function answer(word: string | undefined): Promise<string | null> {
  if (word === "--version") return renderVersion(false);
  if (word !== "--help" && word !== "-h" && word !== "help") return null;
  const [{ renderOverview }, { commands }] = await Promise.all([
    import("./cli/commands/help.ts"),
    import("./cli/command-table.ts"),
  ]);
  return renderOverview(commands);
}

/** These are answered before anything else loads; where that fails (a closed pipe), the usual way reports it. */
const text = argv.length === 1 ? await answer(argv[0]) : null;
const answered =
  text !== null &&
  (await Bun.write(Bun.stdout, text).then(
    () => true,
    () => false,
  ));

if (!answered) {
  const { start } = await import("./cli/start.ts");
  await start(argv);
}
