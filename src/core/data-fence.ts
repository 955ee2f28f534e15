/** Wraps data for a prompt so that the data cannot end its own wrapping. Pure. */
import { spellHidden } from "./invisible.ts";

/** A whole file: some programs, such as cron, ignore a last line without a line feed, which nothing else shows. */
export const fenceFile = (about: Readonly<Record<string, string>>, text: string): string =>
  fence("file", text === "" || text.endsWith("\n") ? about : { ...about, end: "no line feed" }, text);

/** `<name attr="…">text</name>`, with a number after the name if the text holds that end; hidden characters spelled out. */
export function fence(name: string, attributes: Readonly<Record<string, string>>, text: string): string {
  let tag = name;
  for (let n = 2; text.includes(`</${tag}`); n += 1) tag = `${name}${n}`;
  const shown = Object.entries(attributes).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return spellHidden(`<${tag}${shown.join("")}>\n${text}${text.endsWith("\n") || text === "" ? "" : "\n"}</${tag}>`);
}
