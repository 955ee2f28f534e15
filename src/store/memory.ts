/** The facts of one project in its state folder: lists, adds, changes and drops them. */
import * as z from "zod/mini";
import { PaiError } from "../core/error.ts";
import { type MemoryFact, maxFactChars, maxFacts } from "../core/memory.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { findId } from "../core/suggest.ts";
import { openStateFile } from "./state-file.ts";

const text = z.string();
const fact = { id: text, text, run: z.nullable(text), at: text, pending: z.boolean(), files: z.record(text, text) };
const fileShape = z.object({ facts: z.readonly(z.array(z.object(fact))) });

export type Memory = ReturnType<typeof openMemory>;

export function openMemory(stateFolder: string) {
  const none: { readonly facts: readonly MemoryFact[] } = { facts: [] };
  const hint = "repair it, or remove it to forget all of it";
  const file = openStateFile(stateFolder, "memory.json", fileShape, none, { hint });
  const list = () => file.read().facts;

  const edit = <T>(work: (facts: readonly MemoryFact[]) => readonly [readonly MemoryFact[], T]): T =>
    file.editFor((now) => {
      const [facts, result] = work(now.facts);
      return [{ facts: facts.slice(-maxFacts) }, result];
    });

  return {
    list,
    /** Adds new facts; beyond 200 the oldest are dropped. Returns the added ones. */
    add: (news: readonly Omit<MemoryFact, "id">[]): readonly MemoryFact[] =>
      edit((facts) => {
        const known = new Set(facts.map(({ text }) => text));
        const added = news
          .map((fact) => ({ ...fact, text: maskSecrets(fact.text).replace(/\s+/g, " ").trim().slice(0, maxFactChars) }))
          .filter(({ text }) => text !== "" && !known.has(text))
          .map((fact): MemoryFact => ({ ...fact, id: crypto.randomUUID().slice(0, 8) }));
        return [[...facts, ...added], added];
      }),
    /** Changes the fact whose id begins with `id`; a result of null drops it. Throws usage if none or several match. */
    change: (id: string, change: (fact: MemoryFact) => MemoryFact | null): MemoryFact =>
      edit((facts) => {
        const hint = "see: pai memory";
        const ids = facts.map((fact) => fact.id);
        const fact = facts[ids.indexOf(findId(ids, id, "facts", hint) ?? "")];
        if (fact === undefined) throw new PaiError("usage", `no fact has the id ${id}`, { hint });
        const made = change(fact);
        const changed = made && { ...made, text: maskSecrets(made.text) };
        return [facts.flatMap((each) => (each !== fact ? [each] : changed === null ? [] : [changed])), changed ?? fact];
      }),
    /** Drops facts by id; returns how many there were. */
    drop: (ids: ReadonlySet<string>): number =>
      ids.size === 0 ? 0 : edit((facts) => [facts.filter(({ id }) => !ids.has(id)), ids.size]),
  };
}
