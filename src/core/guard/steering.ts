/** Steering files: they run unasked, run when the project is built, or tell agents what to do. Pure. */
import { atFirstUse } from "../at-first-use.ts";
import { foldName } from "./fold-name.ts";
import { agentNames, type Row, unaskedNames } from "./steering-names.ts";
import { builtNames } from "./steering-tools.ts";

/**
 * `unasked`: a push, an opened editor, a shell or an interpreter runs the file. `built`: whoever builds or tests the
 * project runs it. `agents`: agents take it for instructions.
 */
export type SteeringKind = "unasked" | "built" | "agents";

export interface Steering {
  readonly kind: SteeringKind;
  /** A clause after the path: "git runs it". */
  readonly why: string;
}

const tables: readonly (readonly [kind: SteeringKind, rows: readonly Row[]])[] = [
  ["unasked", unaskedNames],
  ["agents", agentNames],
  ["built", builtNames],
];

/** A text that a name ends with, or, when there is a pattern, contains. */
interface Mark {
  readonly text: string;
  readonly pattern: RegExp | null;
  readonly steering: Steering;
}

/** Texts that rule out most names, which is cheaper than making the tables. */
interface Table {
  /** Whether it is one of the names, or a part of one with a folder. */
  readonly isSpelled: (name: string) => boolean;
  /** `name`, or `folder/name`; a name that ends in `/` counts anywhere in a path, others only at its end. */
  readonly byName: () => ReadonlyMap<string, Steering>;
  /** Whether it is one of the endings, which begin with a dot. */
  readonly isEnding: (text: string) => boolean;
  /** A name of a shape contains one of these. */
  readonly shapeWords: readonly string[];
  readonly marks: () => readonly Mark[];
}

const wordsOf = (text: string): readonly string[] => text.match(/\S+/g) ?? [];

function openTable(): Table {
  const rows: { readonly row: Row; readonly steering: Steering }[] = [];
  let [spelled, allEndings, words] = ["", "", ""];
  for (const [kind, all] of tables) {
    for (const row of all) {
      rows.push({ row, steering: { kind, why: row.why } });
      spelled += `${row.names} `;
      allEndings += `${row.endings ?? ""} `;
      words += `${row.shape?.words ?? ""} `;
    }
  }
  return {
    isSpelled: openWords(spelled),
    byName: atFirstUse(
      () => new Map(rows.flatMap(({ row, steering }) => wordsOf(row.names).map((name) => [name, steering]))),
    ),
    isEnding: openWords(allEndings),
    shapeWords: wordsOf(words),
    marks: atFirstUse(() =>
      rows.flatMap(({ row: { endings = "", shape }, steering }) => [
        ...wordsOf(endings).map((text) => ({ text, pattern: null, steering })),
        ...wordsOf(shape?.words ?? "").map((text) => ({ text, pattern: shape?.pattern ?? null, steering })),
      ]),
    ),
  };
}

const table = atFirstUse(openTable);

/** Whether the name may end or look like one in the table. */
function mayFit(name: string, { isEnding, shapeWords }: Table): boolean {
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    if (isEnding(name.slice(dot))) return true;
  }
  for (const word of shapeWords) if (name.includes(word)) return true;
  return false;
}

/** The steering of a name in a folder, both folded; null: none. `last`: the name is the last part of its path. */
export function steeringOfName(folder: string, name: string, last: boolean): Steering | null {
  const { isSpelled, byName, marks } = table();
  const spellings = isSpelled(name) ? [`${folder}/${name}`, name] : [];
  for (const spelling of spellings) {
    const found = byName().get(`${spelling}/`) ?? (last ? byName().get(spelling) : undefined);
    if (found !== undefined) return found;
  }
  if (!last || !mayFit(name, table())) return null;
  const fits = ({ text, pattern }: Mark) =>
    pattern === null ? name.endsWith(text) : name.includes(text) && pattern.test(name);
  return marks().find(fits)?.steering ?? null;
}

/** What a tool looks for below a folder of this folded name, as a clause; null: nothing that steers. */
export function steeringBelow(name: string): Steering | null {
  const { byName } = table();
  const below = [...byName()].find(([spelled]) => spelled.startsWith(`${name}/`));
  return below?.[1] ?? null;
}

/** A set of the words takes as long to make as this many searches in their text. */
const fewSearches = 100;

/** Tells of texts whether they are words of this one, which blanks and slashes bound. */
function openWords(text: string): (word: string) => boolean {
  const words = atFirstUse(() => new Set(text.split(/[\s/]+/)));
  let searches = 0;
  return (word) => (++searches > fewSearches ? words().has(word) : hasWord(text, word));
}

function hasWord(text: string, word: string): boolean {
  const isEdge = (at: number) => " \n/".includes(text.charAt(at));
  if (word === "") return true;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (isEdge(at - 1) && isEdge(at + word.length)) return true;
  }
  return false;
}

/** The steering of the first part of a path that is in the table, `built` only if no other kind is. null: none. */
export function findSteering(path: string): Steering | null {
  const parts = path.split("/").map(foldName);
  let built: Steering | null = null;
  for (const [at, name] of parts.entries()) {
    const steering = steeringOfName(parts[at - 1] ?? "", name, at === parts.length - 1);
    if (steering !== null && steering.kind !== "built") return steering;
    built ??= steering;
  }
  return built;
}

/** Whether a change to such a file needs a separate approval. */
export const needsOwnYes = ({ kind }: Steering): boolean => kind !== "built";

/** The kind in words, as a clause after the path. */
export function describeSteering({ kind, why }: Steering): string {
  if (kind === "unasked") return `runs code later without being asked (${why})`;
  return kind === "agents" ? `steers agents later (${why})` : why;
}
