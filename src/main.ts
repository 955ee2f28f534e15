#!/usr/bin/env bun
/** argv in, exit code out. */
import { renderVersion } from "./cli/commands/version.ts";

const argv = process.argv.slice(2);

/** The question of every package manager is answered before anything loads; what fails here, the whole way reports. */
const answered =
  argv.length === 1 &&
  argv[0] === "--version" &&
  (await Bun.write(Bun.stdout, renderVersion(false)).then(
    () => true,
    () => false,
  ));

if (!answered) {
  const { start } = await import("./cli/start.ts");
  await start(argv);
}
