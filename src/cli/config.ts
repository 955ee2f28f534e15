/** `pai config`: keys and settings, by a word that says what to do. */
import { PaiError } from "../core/error.ts";
import { suggest } from "../core/suggest.ts";
import { renderCommandDocument } from "../ui/json.ts";
import { visible } from "../ui/sanitize.ts";
import type { Command, Context } from "./command.ts";
import { keyWords } from "./config-keys.ts";
import { settingWords } from "./config-settings.ts";
import type { ConfigCall, ConfigWord } from "./config-word.ts";
import { flagsNamed } from "./flags.ts";
import { openPlaces } from "./open-places.ts";

type AskHidden = (question: string) => Promise<string | null>;

const words: Readonly<Record<string, ConfigWord>> = { ...keyWords, ...settingWords };
const deprecated = ["set", "show", "remove"] as const;

const definition: Omit<Command, "run"> = {
  name: "config",
  about: "keys and settings",
  usage: Object.keys(words).join("|"),
  flags: flagsNamed("provider", "online", "no-input", "yes", "insecure-http", ...deprecated),
  examples: [
    "pai config set < key.txt",
    "pai config add work",
    "pai config list",
    "pai config validate --online",
    "pai config put limits.calls 6",
  ],
};

const result = { command: "config", code: 0, error: null };
const isJson = ({ flags }: Context): boolean => flags["json"] === true;

/** The command with the given way to read a key that must not show; a null answer is the end of input. */
export function defineConfigCommand(openAskHidden: (context: Context) => AskHidden): Command {
  return {
    ...definition,
    run: async (context) => {
      const { word, rest } = choose(context);
      if (word === null) {
        const data = { words: Object.keys(words) };
        context.out(isJson(context) ? renderCommandDocument({ ...result, data }) : renderWords());
        return 0;
      }
      const call: ConfigCall = {
        context,
        words: rest,
        provider: providerOf(context),
        places: openPlaces(context.env),
        askHidden: openAskHidden(context),
        warn: (text) => {
          if (context.flags["quiet"] !== true) context.err(`pai: warning: ${visible(text)}\n`);
        },
      };
      const { lines, data } = await word.run(call);
      context.out(
        isJson(context)
          ? renderCommandDocument({ ...result, data })
          : lines.map((line) => `${visible(line)}\n`).join(""),
      );
      return 0;
    },
  };
}

export const configCommand: Command = defineConfigCommand((context) => async (question) => {
  const { openPrompter } = await import("./view.ts");
  const prompter = await openPrompter(context, context.signal)();
  return prompter.askHidden(question);
});

interface Choice {
  /** null: nothing was asked for. */
  readonly word: ConfigWord | null;
  readonly rest: readonly string[];
}

function choose({ flags, words: [name, ...rest], err }: Context): Choice {
  const old = deprecated.filter((flag) => flags[flag] !== undefined);
  const [flag] = old;
  if (flag !== undefined) {
    if (old.length > 1 || name !== undefined)
      throw new PaiError("usage", `--${flag} stands alone; better: pai config ${flag}`);
    err(`pai: warning: --${flag} is deprecated, use: pai config ${flag}\n`);
    const value = flags[flag];
    return { word: words[flag] ?? null, rest: typeof value === "string" ? [value] : [] };
  }
  if (name === undefined) return { word: null, rest };
  const word = Object.hasOwn(words, name) ? words[name] : undefined;
  if (word === undefined) {
    const near = suggest(name, Object.keys(words));
    const hint = near === null ? "see: pai config" : `did you mean: pai config ${near}?`;
    throw new PaiError("usage", "pai config does not know that word", { hint });
  }
  if (rest.length < word.least || rest.length > word.most) {
    throw new PaiError("usage", `usage: pai config ${name} ${word.usage}`.trimEnd());
  }
  return { word, rest };
}

/** Its choices were checked with the other flags. */
function providerOf({ flags }: Context): string | null {
  const given = flags["provider"];
  return typeof given === "string" ? given : null;
}

function renderWords(): string {
  const rows = Object.entries(words).map(([name, { usage, about }]) => [`${name} ${usage}`.trimEnd(), about] as const);
  const width = Math.max(...rows.map(([left]) => left.length));
  return `Usage: pai config WORD\n\n${rows.map(([left, about]) => `  ${left.padEnd(width)}  ${about}\n`).join("")}`;
}
