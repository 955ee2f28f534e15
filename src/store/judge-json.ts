/** Says which part of a setting's JSON is wrong: judges of single values, put together to judge objects. */
import { isFields, type Json } from "../core/model.ts";

/** The wrong part of a value, and what belongs there. */
export interface Fault {
  /** Names that lead to it from the value; empty: the value itself. */
  readonly path: readonly string[];
  /** To follow "must be". */
  readonly wants: string;
}

/** null: the value is right. */
export type Judge = (json: Json) => Fault | null;

type Judges = Readonly<Record<string, Judge>>;

const below = (name: string, fault: Fault | null): Fault | null =>
  fault === null ? null : { ...fault, path: [name, ...fault.path] };

function firstFault(faults: Iterable<Fault | null>): Fault | null {
  for (const fault of faults) if (fault !== null) return fault;
  return null;
}

export const judgeBy =
  (wants: string, fits: (json: Json) => boolean): Judge =>
  (json) =>
    fits(json) ? null : { path: [], wants };

/** An object with names of the user's choice. `wants`: what its names must be, to follow "must have a name of". */
export function judgeEntries(name: { readonly wants: string; readonly shape: RegExp }, inner: Judge): Judge {
  return (json) => {
    if (!isFields(json)) return { path: [], wants: "an object" };
    return firstFault(
      Object.entries(json).map(([key, value]) =>
        name.shape.test(key) ? below(key, inner(value)) : { path: [key], wants: `named by ${name.wants}` },
      ),
    );
  };
}

/** An object with these fields and no others. `what`: what it is, like "a provider". */
export function judgeObject(what: string, required: Judges, optional: Judges): Judge {
  const all = { ...required, ...optional };
  const names = Object.keys(all).join(", ");
  return (json) => {
    if (!isFields(json)) return { path: [], wants: `an object with ${names}` };
    const unknown = Object.keys(json).find((key) => !Object.hasOwn(all, key));
    if (unknown !== undefined) return { path: [unknown], wants: `left out: ${what} has ${names}` };
    const given = Object.entries(all).filter(([key]) => Object.hasOwn(required, key) || json[key] !== undefined);
    return firstFault(given.map(([key, judge]) => below(key, judge(json[key] ?? null))));
  };
}
