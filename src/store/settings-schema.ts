/** The JSON Schema of a settings file, generated from the table of settings. */
import type { Fields } from "../core/model.ts";
import { allSettings } from "./setting-table.ts";

const closed = { type: "object", additionalProperties: false } as const;

/** A setting and the rest of its name: `day.calls` below `limits`; "" for the setting itself. */
interface Below {
  readonly path: readonly string[];
  readonly schema: Fields;
}

/** The schema of a name. One with parts may be an object of them, in which the list of `checks` is `commands`. */
function describeUnder(name: string, settings: readonly Below[]): Fields {
  const own = settings.find(({ path }) => path.length === 0)?.schema;
  const inner = describeAll(settings.filter(({ path }) => path.length > 0));
  if (Object.keys(inner).length === 0) return own ?? {};
  if (own === undefined) return { ...closed, properties: inner };
  const listed = name === "checks" ? { commands: own } : {};
  return { anyOf: [own, { ...closed, properties: { ...listed, ...inner } }], description: `${name}, or its parts` };
}

function describeAll(settings: readonly Below[]): Fields {
  const groups = Map.groupBy(settings, ({ path: [first = ""] }) => first);
  const below = (group: readonly Below[]) => group.map(({ path, schema }) => ({ path: path.slice(1), schema }));
  return Object.fromEntries([...groups].map(([name, group]) => [name, describeUnder(name, below(group))]));
}

const wholeNames = (): Fields =>
  Object.fromEntries(allSettings.flatMap(({ name, schema }) => (name.includes(".") ? [[name, schema()]] : [])));

/** Schema of config.json; how much of it counts in pai.json depends on trust. */
export function describeSettings(): Fields {
  const settings = allSettings.map(({ name, schema, wants }) => ({
    path: name.split("."),
    schema: { ...schema(), description: wants },
  }));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of pai",
    ...closed,
    properties: { $schema: { type: "string" }, ...describeAll(settings), ...wholeNames() },
  };
}
