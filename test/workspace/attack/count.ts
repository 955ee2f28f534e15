/** Tries all cases as the user who runs it; as a program it prints what came of it as JSON. */
import { links } from "./cases-links.ts";
import { denied } from "./cases-names.ts";
import { objects } from "./cases-objects.ts";
import { paths } from "./cases-paths.ts";
import { type Cell, tryCase, tryControls } from "./drive.ts";

export interface Count {
  readonly tried: number;
  readonly refused: number;
  readonly contained: number;
  /** The attack works on nobody here, so that withstanding it proves nothing. */
  readonly skipped: number;
  readonly faults: readonly string[];
}

const cases = [...paths, ...links, ...objects, ...denied];

export async function countAll(): Promise<Count> {
  const possible = cases.filter(({ root }) => root !== true || process.geteuid?.() === 0);
  const controls = new Map(possible.map((attack) => [attack, tryControls(attack)]));
  const cells: Cell[] = [];
  for (const attack of possible) cells.push(...(await tryCase(attack, controls.get(attack) ?? new Map())));
  const proven = cells.filter(({ control }) => control);
  return {
    tried: proven.length,
    refused: proven.filter(({ refused }) => refused).length,
    contained: proven.filter(({ refused }) => !refused).length,
    skipped: cells.length - proven.length,
    faults: cells.flatMap(({ id, action, path, fault }) =>
      fault === null ? [] : [`${id} ${action} ${JSON.stringify(path).slice(0, 100)}: ${fault}`],
    ),
  };
}

if (import.meta.main) console.log(JSON.stringify(await countAll()));
