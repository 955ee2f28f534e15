/** A process of its own that makes the index of a folder and surveys it, only surveys it, or says what it holds: `ROOT STATE [look|status]`; prints what came of it as JSON. */
import { writeSync } from "node:fs";
import { termsOf } from "../../../src/core/context/words.ts";
import { openBare } from "../bare.ts";

const [root = "", state = "", only] = process.argv.slice(2);
const signal = new AbortController().signal;
const { workspace, index } = await openBare(root, state, { env: { PATH: "/usr/bin:/bin" } });
const make = () =>
  index?.refresh(signal).then(
    ({ obstacle }) => (obstacle === null ? "complete" : "not complete"),
    (thrown) => (thrown instanceof Error ? `failed: ${thrown.message}` : "failed"),
  );
const made = only === undefined ? await make() : "not tried";
if (only === "status") {
  const status = await index?.status();
  writeSync(1, JSON.stringify({ files: status?.files ?? null, complete: status?.complete ?? null }));
  process.exit(0);
}
const survey = workspace.survey?.(async () => termsOf("the default map of the parser"));
const entries = (await survey?.list(signal))?.entries.map(({ path }) => path) ?? [];
const tally = await survey?.tally(signal);
const found = tally?.found.map(({ path, length, counts }) => [path, length, ...Array.from(counts)].join(" ")).sort();
writeSync(1, JSON.stringify({ made: made ?? "none kept", entries, found, unread: tally?.unread }));
