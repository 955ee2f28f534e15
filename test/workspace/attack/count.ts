/** Tries all cases as the user who runs it; as a program it prints what came of it, and what the sandbox can do for this user, as JSON. */
import { here } from "../sandbox/here.ts";
import { cases } from "./cases.ts";
import { type Cell, tryCase } from "./drive.ts";

export interface Count {
  readonly tried: number;
  readonly refused: number;
  readonly faults: readonly string[];
}

export async function countAll(): Promise<Count> {
  const cells: Cell[] = [];
  for (const attack of cases)
    if (attack.root !== true || process.geteuid?.() === 0) cells.push(...(await tryCase(attack)));
  return {
    tried: cells.length,
    refused: cells.filter(({ refused }) => refused).length,
    faults: cells.flatMap(({ id, action, path, fault }) =>
      fault === null ? [] : [`${id} ${action} ${JSON.stringify(path).slice(0, 100)}: ${fault}`],
    ),
  };
}

if (import.meta.main) console.log(JSON.stringify({ ...(await countAll()), sandbox: here }));
