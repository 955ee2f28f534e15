/** A process of its own that reserves and settles calls of a day: `bun day-ledger.ts FILE COUNT CAP`. */
import { openDayLedger } from "../../src/lab/team/day-ledger.ts";

const [file = "", count = "0", cap = "0"] = process.argv.slice(2);
const ledger = openDayLedger(file);
const want = { input: 100, minReply: 50, maxReply: 400, inputCost: 0, perOutput: 0 };
let tokens = 0;
for (let at = 0; at < Number(count); at += 1) {
  const id = crypto.randomUUID();
  const share = ledger.reserve(id, "2026-11-22", "machine", { calls: null, tokens: Number(cap), cost: null }, want);
  if ("what" in share) break;
  const used = at % 3 === 0 ? 120 : share.tokens;
  if (at % 5 !== 0) ledger.settle(id, { calls: 1, tokens: used, cost: 0 });
  tokens += at % 5 === 0 ? share.tokens : used;
}
ledger.close();
console.log(tokens);
