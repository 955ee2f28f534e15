/** What pai has learned of a project: facts that runs proposed, chosen by relevance, never instructions. Pure. */

export interface MemoryFact {
  readonly id: string;
  readonly text: string;
  /** The run that proposed it; null: a person wrote it. */
  readonly run: string | null;
  /** ISO 8601. */
  readonly at: string;
  /** Proposed in a run without a person: never sent before a person accepts it. */
  readonly pending: boolean;
  /** Files that the text names, with the hash of their content then: when one changes, the fact is dropped. */
  readonly files: Readonly<Record<string, string>>;
}

export interface ProjectMemory {
  /** Facts for a request, one a line; "" for none. */
  recall(task: string): Promise<string>;
  /** Keeps the facts that the run proposes, and returns the new ones; null: this run keeps no facts. */
  readonly learn: ((texts: readonly string[]) => Promise<readonly MemoryFact[]>) | null;
}

export const maxFacts = 200;
export const maxFactChars = 300;
const maxProposed = 3;
/** Characters that all facts in one request may have together. */
const maxShownChars = 1500;

/** Splits the closing message of a run into what it says and at most three facts that it proposes. */
export function takeFacts(message: string): { readonly text: string; readonly facts: readonly string[] } {
  if (!message.includes("REMEMBER:")) return { text: message, facts: [] };
  const facts: string[] = [];
  const kept = message.split("\n").filter((line) => {
    const fact = /^(?:(?!\p{N})\P{L})*REMEMBER:[:*\s]*(.*)$/u.exec(line)?.[1]?.trim();
    if (fact === undefined) return true;
    if (fact !== "" && facts.length < maxProposed && !facts.includes(fact)) facts.push(fact.slice(0, maxFactChars));
    return false;
  });
  return { text: facts.length === 0 ? message : kept.join("\n").trim(), facts };
}

export function factNamesIn(text: string): readonly string[] {
  const words = text.match(/[\w@.+-]+(?:\/[\w@.+-]+)*/g) ?? [];
  return [...new Set(words.map((word) => word.replace(/\.+$/, "")))].slice(0, 60);
}

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set((text.toLowerCase().match(/(?:\p{L}|\p{N}){3,}/gu) ?? []).map((word) => word.slice(0, 6)));

/** The accepted facts that fit into a request, those that share words with the task first, then the newest. */
export function chooseFacts(facts: readonly MemoryFact[], task: string): readonly MemoryFact[] {
  const wanted = wordsOf(task);
  const scored = facts
    .filter(({ pending }) => !pending)
    .map((fact) => ({ fact, shared: [...wordsOf(fact.text)].filter((word) => wanted.has(word)).length }))
    .sort((a, b) => b.shared - a.shared || (a.fact.at < b.fact.at ? 1 : -1));
  let room = maxShownChars;
  return scored.flatMap(({ fact }) => {
    if (fact.text.length + 3 > room) return [];
    room -= fact.text.length + 3;
    return [fact];
  });
}
