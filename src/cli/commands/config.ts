/** `pai config` for settings and `pai key` for keys: each a group of subcommands. */

import { PaiError } from "../../core/error.ts";
import { providerOfKey } from "../../core/providers.ts";
import { didYouMean } from "../../core/suggest.ts";
import { alignRows } from "../../core/text.ts";
import { openPlaces } from "../../store/places.ts";
import { loadSettings } from "../../store/settings.ts";
import { visible } from "../../ui/sanitize.ts";
import { openLog, showResult } from "../answer-document.ts";
import { chooseProvider } from "../choose-word.ts";
import type { Context, Handler } from "../command.ts";
import { isInteractive, openPrompter } from "../compose/view.ts";
import { keyWords } from "../config/keys.ts";
import { settingWords } from "../config/settings.ts";
import type { ConfigCall, ConfigWord, SettingsNow } from "../config/word.ts";

type Asking = Pick<ConfigCall, "askHidden" | "readLine">;

const groups = { config: settingWords, key: keyWords } as const;
type Group = keyof typeof groups;

/** Defines one of the two with a way to ask; an answer of null means end of input. */
export function defineConfigCommand(
  group: Group,
  openAsking: (context: Context) => Asking,
  now: SettingsNow | null = null,
): Handler {
  return async (context) => {
    const log = openLog(context);
    const warn = (text: string) => log.notify({ level: "warning", code: group, text });
    const notes: string[] = [];
    const [name, ...rest] = context.words;
    if (name === undefined)
      return showResult(context, group, { words: Object.keys(groups[group]) }, renderWords(group));
    const word = findWord(group, name, rest);
    const places = openPlaces(context.env);
    const load = () => loadSettings({ flags: {}, env: context.env, places, root: null });
    const { provider } = context.flags;
    const { lines, data } = await word.run({
      context,
      words: rest,
      provider: provider === undefined ? null : chooseProvider(provider, load().settings.providers),
      load,
      places,
      now,
      ...openAsking(context),
      warn,
      note: (text) => notes.push(text),
    });
    const tellNotes = () => {
      for (const text of notes.splice(0)) log.notify({ level: "info", code: group, text });
    };
    // In JSON output the notes are part of the document.
    if (context.flags.json === true) tellNotes();
    const code = await showResult(context, group, data, lines.map((line) => `${visible(line)}\n`).join(""));
    tellNotes();
    return code;
  };
}

const askAtTerminal = (context: Context): Asking => {
  const prompter = openPrompter(context, context.signal);
  return {
    askHidden: async (...asked) => (await prompter()).askHidden(...asked),
    readLine: isInteractive(context) ? async (question) => (await prompter()).readLine(question) : null,
  };
};

export const configCommand: Handler = defineConfigCommand("config", askAtTerminal);
export const configIn = (now: SettingsNow): Handler => defineConfigCommand("config", askAtTerminal, now);
export const keyCommand: Handler = defineConfigCommand("key", askAtTerminal);

/** The subcommand of that name. Throws usage for an unknown one, and for too few or too many words after it. */
function findWord(group: Group, name: string, rest: readonly string[]): ConfigWord {
  const words = groups[group];
  const word = Object.hasOwn(words, name) ? words[name] : undefined;
  if (word === undefined) {
    const other = group === "config" ? "key" : "config";
    const near = Object.hasOwn(groups[other], name)
      ? `pai ${other} ${name}`
      : didYouMean(name, Object.keys(words), (each) => `pai ${group} ${each}`);
    const isKey = providerOfKey(name) !== null;
    const hint = isKey ? "a key is stored with: pai key set < FILE" : (near ?? `see: pai ${group}`);
    throw new PaiError("usage", `unknown subcommand of pai ${group}`, { hint });
  }
  const [least, most] = word.words;
  if (rest.length >= least && rest.length <= most) return word;
  throw new PaiError("usage", `usage: pai ${group} ${name} ${word.usage}`.trimEnd());
}

function renderWords(group: Group): string {
  const rows = Object.entries(groups[group]).map(([word, { usage, about }]) => [`  ${word} ${usage}`.trimEnd(), about]);
  return [`Usage: pai ${group} WORD`, "", ...alignRows(rows), ""].join("\n");
}
