/**
 * Renews scripts/startup.order, by which the build lays out bytecode: `bun scripts/order.ts`. What one task uses then lies
 * together, so that less of the executable is read. The file of an older commit still helps, for what has not changed.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { envOf, runOnce } from "./bench/run.ts";
import { openScriptedServer } from "./bench/server.ts";
import { makeFolder, repliesFor, requestFor } from "./bench/task.ts";
import { askGit, compile } from "./compile.ts";

const place = mkdtempSync(join(tmpdir(), "pai-order-"));
const server = openScriptedServer();
try {
  const pai = join(place, "pai");
  compile({ outfile: pai, version: "0.0.0", commit: askGit("rev-parse", "HEAD") ?? "unknown", target: "linux" });
  const [work, order] = [join(place, "work"), join(place, "order")];
  mkdirSync(join(place, "home"));
  makeFolder(work, "small");
  server.play(repliesFor("small", 1));
  const env = { ...envOf({ place, pai, server, next: 0 }), BUN_BYTECODE_ORDER_OUT: order };
  await runOnce([pai, "run", "-y", requestFor(1)], work, env);
  // Functions and modules alone: the order of texts takes eight times the space and saves nothing more.
  const lines = readFileSync(order, "utf8").split("\n");
  const kept = lines.filter((line, at) => at === 0 || /^[FMN] /.test(line));
  writeFileSync(join(import.meta.dir, "startup.order"), `${kept.join("\n")}\n`);
  console.log(`scripts/startup.order  ${kept.length - 1} functions and modules`);
} finally {
  await server.stop();
  rmSync(place, { recursive: true, force: true });
}
