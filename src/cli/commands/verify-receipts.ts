/** `pai history --verify`: checks that the receipts of this folder are unchanged and complete. */
import { join } from "node:path";
import { PaiError } from "../../core/error.ts";
import { noEnd } from "../../core/receipt.ts";
import { openReceipts } from "../../store/receipts.ts";
import { counted } from "../../ui/amount.ts";
import { showFinding, showResult } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { openHere } from "../compose/open-here.ts";

/** Receipts without an end that are no failure, by the state of the run's changes. */
const unfinished: Readonly<Record<string, "running" | "recovered">> = {
  open: "running",
  rolled_back: "recovered",
  none: "recovered",
};

export async function verifyReceipts(context: Context): Promise<number> {
  const [wanted, ...more] = context.words;
  if (more.length > 0) throw new PaiError("usage", "--verify takes one run", { hint: "see: pai history" });
  const { stateFolder, history } = await openHere(context);
  if (stateFolder === null) throw new PaiError("failed", "no receipts are kept here");
  const receipts = openReceipts(join(stateFolder, "runs"));
  const ids = wanted === undefined ? receipts.ids() : [receipts.find(wanted)];
  const journal = new Map(history.list().map(({ id, status }) => [id, status] as const));
  const runs = ids.map((id) => {
    const { facts, broken } = receipts.read(id);
    const state = broken?.why === noEnd ? unfinished[journal.get(id) ?? "none"] : undefined;
    return { run: id, lines: facts.length, broken: state === undefined ? broken : null, state: state ?? "ended" };
  });
  const bad = runs.flatMap(({ run, broken }) => (broken === null ? [] : [{ run, ...broken }]));
  const data = { runs };
  const [first] = bad;
  const fine =
    runs.length === 0
      ? "no receipts are kept"
      : `${counted(runs.length, "receipt")}, every line unchanged${describeUnfinished(runs)}`;
  if (first === undefined) return showResult(context, "history", data, `${fine}\n`);
  const others = bad.length === 1 ? "" : ` (and ${counted(bad.length - 1, "more receipt")})`;
  const message = `the receipt of run ${first.run} is broken at line ${first.line}: ${first.why}${others}`;
  return showFinding(context, "history", data, new PaiError("failed", message));
}

function describeUnfinished(runs: readonly { readonly run: string; readonly state: string }[]): string {
  const unfinished = runs.flatMap(({ run, state }) => (state === "ended" ? [] : [`${run} ${state}`]));
  return unfinished.length === 0 ? "" : ` (${unfinished.join(", ")})`;
}
