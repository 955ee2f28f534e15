#!/usr/bin/env node
/** Starts the pai that npm installed for this machine. */
"use strict";
const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const { constants } = require("node:os");

/** Whether Node itself runs on musl; asked only where npm installed both, as some package managers do. */
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

/** Ends with one line on standard error, and the exit code of a wrong configuration. */
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
  // Newer versions of Node give their process to the program: nothing stays between it and the shell.
  if (process.execve !== undefined) process.execve(program, [program, ...args], process.env);
} catch {
  // Where that fails the program is started beside Node.
}
let child;
// Before the program starts: it may say that it is ready, and be told to stop, at once.
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child?.kill(signal));
// A terminal sends Ctrl+C to both; whoever has none sends it to this process only.
process.on("SIGINT", () => process.stdin.isTTY || child?.kill("SIGINT"));
child = spawn(program, args, { stdio: "inherit" });
child.on("error", (error) => fail(`${program} cannot be started: ${error.message}`));
child.on("exit", (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
