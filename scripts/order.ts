/**
 * Renews scripts/startup.order, by which the build lays out bytecode: `bun scripts/order.ts`. Code that one task uses
 * is then together, followed by that for ranking a project, so that less of the executable is read. A file from an
 * older commit still helps where the code has not changed.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeProject, request } from "./bench/context.ts";
import { envOf, runOnce } from "./bench/run.ts";
import { openScriptedServer, plainAnswer } from "./bench/server.ts";
import { makeFolder, repliesFor, requestFor } from "./bench/task.ts";
import { askGit, compile } from "./compile.ts";

const place = mkdtempSync(join(tmpdir(), "pai-order-"));
const server = openScriptedServer();
try {
  const pai = join(place, "pai");
  compile({ outfile: pai, version: "0.0.0", commit: askGit("rev-parse", "HEAD") ?? "unknown", target: "linux" });
  const [small, ranked, order] = [join(place, "small"), join(place, "ranked"), join(place, "order")];
  mkdirSync(join(place, "home"));
  makeFolder(small, "small");
  makeProject(ranked, 20, 2_000);
  const env = { ...envOf({ place, pai, server, next: 0 }), BUN_BYTECODE_ORDER_OUT: order };
  const kept = new Set<string>();
  const use = async (cwd: string, replies: readonly string[], args: readonly string[]) => {
    server.play(replies);
    await runOnce([pai, ...args], cwd, env);
    // Only functions and modules: the order of texts takes eight times the space and saves nothing.
    const [head = "", ...lines] = readFileSync(order, "utf8").split("\n");
    for (const line of [head, ...lines.filter((each) => /^[FMN] /.test(each))]) kept.add(line);
  };
  await use(small, repliesFor("small", 1), ["run", "-y", requestFor(1)]);
  await use(ranked, [plainAnswer, plainAnswer], ["plan", request]);
  writeFileSync(join(import.meta.dir, "startup.order"), `${[...kept].join("\n")}\n`);
  console.log(`scripts/startup.order  ${kept.size - 1} functions and modules`);
} finally {
  await server.stop();
  rmSync(place, { recursive: true, force: true });
}
