#!/usr/bin/env bun
/** argv in, exit code out. */
import { start } from "./cli/start.ts";

await start(process.argv.slice(2));
