#!/usr/bin/env node
/** Starts the pai that npm installed for this machine. */
"use strict";
const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const { constants } = require("node:os");

/** Whether Node runs on musl; needed only if both packages are installed, as some package managers do. */
function isMusl() {
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

function find(suffix) {
  try {
    return require.resolve(`@paicode/${process.platform}-${process.arch}${suffix}/pai`);
  } catch {
    return null;
  }
}

/** Prints one line to standard error and exits with the code of an invalid configuration. */
function fail(text) {
  process.stderr.write(`pai: ${text}\n`);
  process.exit(3);
}

const [glibc, musl] = [find(""), find("-musl")];
const program = glibc !== null && musl !== null ? (isMusl() ? musl : glibc) : (glibc ?? musl);
if (program === null)
  fail(`there is no @paicode/${process.platform}-${process.arch}; was npm told to leave out optional packages?`);
if (!existsSync("/proc/self")) fail("/proc is not mounted, and pai's runtime needs it");

const args = process.argv.slice(2);
try {
  // Newer versions of Node can replace their process by the program, which the shell then sees directly.
  if (process.execve !== undefined) process.execve(program, [program, ...args], process.env);
} catch {
  // Otherwise the program runs as a child of Node.
}
let child;
// Set before the program starts, since it may be ready, and be told to stop, at once.
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child?.kill(signal));
// A terminal sends Ctrl+C to both processes; other senders signal only this one.
process.on("SIGINT", () => process.stdin.isTTY || child?.kill("SIGINT"));
child = spawn(program, args, { stdio: "inherit" });
child.on("error", (error) => fail(`${program} cannot be started: ${error.message}`));
child.on("exit", (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
