/** What is ignored is brought over unseen: a run must not widen that for its own commands. */
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Transaction } from "../../../src/core/ports.ts";
import { openBare } from "../bare.ts";
import { change, file, type Place } from "../tree.ts";
import { inPlace, onCopies, say } from "./copies.ts";

const rules = (text: string) => change(".gitignore", file("build/\n*.log\n"), file(text));

async function runAfter(place: Place, changes: Parameters<Transaction["apply"]>[0], command: string) {
  const opened = await openBare(place.work, place.state, {
    env: { PATH: "/usr/bin:/bin" },
  });
  const transaction = await opened.workspace.begin({
    id: "r1",
    task: "a command",
  });
  await transaction.apply(changes, "plan");
  const { signal } = new AbortController();
  const { effects } = await transaction.run(command, { by: "plan", timeoutMs: 20_000, signal, sandbox: "proposal" });
  return { transaction, effects, signal };
}

onCopies("files that the run itself made ignored are changed and deleted in the open", () =>
  inPlace(async (place) => {
    const { transaction, effects } = await runAfter(
      place,
      [rules("src/\n*.txt\n")],
      "echo evil > src/deep/c.txt; rm a.txt; rm -r gone",
    );
    expect(effects.changes.map(say).sort()).toEqual([
      "change file src/deep/c.txt evil",
      "delete file a.txt",
      "delete file gone/x",
      "delete folder gone",
    ]);
    expect([effects.changes.some(({ isIgnored }) => isIgnored), effects.carried]).toEqual([false, []]);
    await transaction.drop(effects, null);
  }),
);

onCopies("what is new under rules that the run wrote is brought over, but for files that steer", () =>
  inPlace(async (place) => {
    const made = "mkdir -p out .github/workflows; echo o > out/o; echo 1 > .github/workflows/x.yml; echo 3 > fresh.log";
    const { transaction, effects, signal } = await runAfter(place, [rules("out/\n.github/\n*.log\n")], made);
    expect(effects.changes.map(say)).toEqual([
      "create folder .github",
      "create folder .github/workflows",
      "create file .github/workflows/x.yml 1",
    ]);
    await transaction.keep(effects, () => true, signal);
    expect([existsSync(join(place.work, "out/o")), existsSync(join(place.work, "fresh.log"))]).toEqual([true, true]);
  }),
);
