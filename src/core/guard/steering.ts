/** The files that steer: they run as code without being asked, run when the project is built, or tell agents what to do. Pure. */
import { foldName } from "./fold-name.ts";
import { agentNames, type Row, unaskedNames } from "./steering-names.ts";
import { builtNames } from "./steering-tools.ts";

/**
 * `unasked`: a push, an opened editor, shell or interpreter runs it. `built`: whoever builds or tests the project runs
 * it. `agents`: agents take it for instructions.
 */
export type SteeringKind = "unasked" | "built" | "agents";

export interface Steering {
  readonly kind: SteeringKind;
  /** A clause after the path: "git runs it". */
  readonly why: string;
}

interface Table {
  /** `name`, or `folder/name`; a name that ends in `/` counts anywhere in a path, others only at its end. */
  readonly byName: ReadonlyMap<string, Steering>;
  readonly shapes: readonly (readonly [shape: RegExp, steering: Steering])[];
}

function tableOf(kinds: readonly (readonly [kind: SteeringKind, rows: readonly Row[]])[]): Table {
  const byName = new Map<string, Steering>();
  const shapes: [RegExp, Steering][] = [];
  for (const [kind, rows] of kinds) {
    for (const { why, names, shape } of rows) {
      const steering = { kind, why };
      for (const name of names.match(/\S+/g) ?? []) byName.set(name, steering);
      if (shape !== undefined) shapes.push([shape, steering]);
    }
  }
  return { byName, shapes };
}

let opened: Table | null = null;
/** Built when it is first asked: most starts of pai never need it. */
const table = (): Table => {
  opened ??= tableOf([
    ["unasked", unaskedNames],
    ["agents", agentNames],
    ["built", builtNames],
  ]);
  return opened;
};

/** What a name in a folder of this name is in the table; both folded. `last`: nothing follows it in the path. */
export function steeringOfName(folder: string, name: string, last: boolean): Steering | null {
  const { byName, shapes } = table();
  const spellings = [`${folder}/${name}`, name];
  for (const spelling of spellings) {
    const found = byName.get(`${spelling}/`) ?? (last ? byName.get(spelling) : undefined);
    if (found !== undefined) return found;
  }
  return (last ? shapes.find(([shape]) => shape.test(name))?.[1] : undefined) ?? null;
}

/** The first part of a path that is in the table, the gravest kind first; null: none is. */
export function findSteering(path: string): Steering | null {
  const parts = path.split("/").map(foldName);
  const found = parts.flatMap((name, at) => {
    const steering = steeringOfName(parts[at - 1] ?? "", name, at === parts.length - 1);
    return steering === null ? [] : [steering];
  });
  return found.find(({ kind }) => kind !== "built") ?? found[0] ?? null;
}

/** Whether a change to such a file needs a separate approval. */
export const needsOwnYes = ({ kind }: Steering): boolean => kind !== "built";

/** The kind in words, as a clause after the path. */
export function describeSteering({ kind, why }: Steering): string {
  if (kind === "unasked") return `runs code later without being asked (${why})`;
  return kind === "agents" ? `steers agents later (${why})` : why;
}
