/** The JSON Schema of a file of settings, made from the table of settings. */
import type { Fields } from "../core/model.ts";
import { allSettings } from "./setting-table.ts";

const closed = { type: "object", additionalProperties: false } as const;

/** Settings below one name, each by the rest of its name: `calls` of `limits`. */
function groupsOf(): ReadonlyMap<string, Fields> {
  const groups = new Map<string, Fields>();
  for (const { name, schema, wants, inFile } of allSettings) {
    if (!inFile) continue;
    const [group = "", rest = ""] = name.split(".");
    const described = { ...schema, description: wants };
    groups.set(group, { ...groups.get(group), [rest]: described });
  }
  return groups;
}

/** `checks` is a list, or an object whose list is `commands`. */
function propertyOf(name: string, { "": own, ...inner }: Fields): Fields {
  const names = Object.keys(inner);
  if (names.length === 0) return own as Fields;
  if (own === undefined) return { ...closed, properties: inner };
  return { anyOf: [own, { ...closed, properties: { commands: own, ...inner } }], description: `${name}, or its parts` };
}

/** The same settings, each with its whole name: "limits.calls". */
const wholeNames = (): Fields =>
  Object.fromEntries(
    allSettings.flatMap(({ name, schema, inFile }) => (inFile && name.includes(".") ? [[name, schema]] : [])),
  );

/** Of config.json; what pai.json may say of it depends on trust. */
export function describeSettings(): Fields {
  const groups = [...groupsOf()].map(([name, group]) => [name, propertyOf(name, group)] as const);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Settings of pai",
    ...closed,
    properties: { $schema: { type: "string" }, ...Object.fromEntries(groups), ...wholeNames() },
  };
}
