#!/usr/bin/env bun
/** argv in, exit code out. */
import { renderVersion } from "./cli/commands/version.ts";

const argv = process.argv.slice(2);

/** The version is answered before anything else loads; where that fails (a closed pipe), the usual way reports it. */
const isAnswered =
  argv.length === 1 &&
  argv[0] === "--version" &&
  (await Bun.write(Bun.stdout, renderVersion(false)).then(
    () => true,
    () => false,
  ));

if (!isAnswered) {
  const { start } = await import("./cli/start.ts");
  await start(argv);
}
