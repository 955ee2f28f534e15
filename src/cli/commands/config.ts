/** `pai config`: subcommands for keys and settings. */

import { PaiError } from "../../core/error.ts";
import { findAnyProvider, findProvider, type Provider, providerIds } from "../../core/providers.ts";
import { suggest } from "../../core/suggest.ts";
import { openPlaces } from "../../store/places.ts";
import { loadSettings } from "../../store/settings.ts";
import { visible } from "../../ui/sanitize.ts";
import { showResult } from "../answer-document.ts";
import type { Context, Handler } from "../command.ts";
import { isInteractive, openPrompter } from "../compose/view.ts";
import { keyWords } from "../config/keys.ts";
import { settingWords } from "../config/settings.ts";
import type { ConfigCall, ConfigWord } from "../config/word.ts";
import { openLog } from "../open-log.ts";

/** How the command asks a person. */
type Asking = Pick<ConfigCall, "askHidden" | "readLine">;

const words: Readonly<Record<string, ConfigWord>> = { ...keyWords, ...settingWords };
const deprecated = ["set", "show", "remove"] as const;

/** Defines the command with a way to ask; an answer of null means end of input. */
export function defineConfigCommand(openAsking: (context: Context) => Asking): Handler {
  return async (context) => {
    const log = openLog(context);
    const warn = (text: string) => log.notify({ level: "warning", code: "config", text });
    /** Advice that is shown after the result. */
    const notes: string[] = [];
    const { word, rest } = choose(context, warn);
    const places = openPlaces(context.env);
    const own = () => loadSettings({ flags: {}, env: context.env, places, root: null }).settings.providers;
    if (word === null) return showResult(context, "config", { words: Object.keys(words) }, renderWords());
    const { lines, data } = await word.run({
      context,
      words: rest,
      provider: providerNamed(context.flags.provider, own),
      own,
      places,
      ...openAsking(context),
      warn,
      note: (text) => notes.push(text),
    });
    const tellNotes = () => {
      for (const text of notes.splice(0)) log.notify({ level: "info", code: "config", text });
    };
    // In JSON output the notes are part of the document.
    if (context.flags.json === true) tellNotes();
    const code = await showResult(context, "config", data, lines.map((line) => `${visible(line)}\n`).join(""));
    tellNotes();
    return code;
  };
}

export const configCommand: Handler = defineConfigCommand((context) => {
  const prompter = openPrompter(context, context.signal);
  return {
    askHidden: async (question) => (await prompter()).askHidden(question),
    readLine: isInteractive(context) ? async (question) => (await prompter()).readLine(question) : null,
  };
});

/** The provider of `--provider`, of pai or of the user; null: not given. Throws usage for an unknown one. */
function providerNamed(given: string | undefined, own: ConfigCall["own"]): Provider | null {
  const name = given?.trim() ?? null;
  const found = name === null ? null : (findProvider(name) ?? findAnyProvider(name, own()));
  if (name === null || found !== null) return found;
  const names = [...providerIds, ...own().map(({ id }) => id)];
  const near = suggest(name, names);
  throw new PaiError("usage", `--provider must be one of ${names.join(", ")}`, {
    hint: near === null ? undefined : `did you mean --provider ${near}?`,
  });
}

interface Choice {
  /** null: no subcommand was given. */
  readonly word: ConfigWord | null;
  readonly rest: readonly string[];
}

function choose({ flags, words: [name, ...rest] }: Context, warn: ConfigCall["warn"]): Choice {
  const old = deprecated.filter((flag) => flags[flag] !== undefined);
  const [flag] = old;
  if (flag !== undefined) {
    if (old.length > 1 || name !== undefined)
      throw new PaiError("usage", `--${flag} stands alone; better: pai config ${flag}`);
    warn(`--${flag} is deprecated, use: pai config ${flag}`);
    const value = flags[flag];
    return { word: words[flag] ?? null, rest: typeof value === "string" ? [value] : [] };
  }
  if (name === undefined) return { word: null, rest };
  const word = Object.hasOwn(words, name) ? words[name] : undefined;
  if (word === undefined) {
    const near = suggest(name, Object.keys(words));
    const hint = near === null ? "see: pai config" : `did you mean: pai config ${near}?`;
    throw new PaiError("usage", "unknown subcommand of pai config", { hint });
  }
  if (rest.length < word.minWords || rest.length > word.maxWords) {
    throw new PaiError("usage", `usage: pai config ${name} ${word.usage}`.trimEnd());
  }
  return { word, rest };
}

function renderWords(): string {
  const rows = Object.entries(words).map(([name, { usage, about }]) => [`${name} ${usage}`.trimEnd(), about] as const);
  const width = Math.max(...rows.map(([left]) => left.length));
  return `Usage: pai config WORD\n\n${rows.map(([left, about]) => `  ${left.padEnd(width)}  ${about}\n`).join("")}`;
}
