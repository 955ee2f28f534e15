/** Words in a git settings file that may name programs, scripts or more settings. Pure. */

export interface NamedPrograms {
  /** `section.key` in lower case, without the subsection. */
  readonly key: string;
  /** The words of the value; most are no paths. */
  readonly words: readonly string[];
}

/** Their values name other repositories, branches, people and addresses, never a file that git runs. */
const harmless = new Set(["remote", "branch", "user", "author", "committer", "url", "http", "init", "i18n", "color"]);

/** The words of commands in a shell. */
export const wordsIn = (commands: string): readonly string[] =>
  commands.split(/[\s'"!;|&()<>=,`]+/).filter((word) => word !== "" && !word.includes("\0"));

/** One for each setting whose value may name a file. */
export function programsIn(settings: string): readonly NamedPrograms[] {
  let section = "";
  const found: NamedPrograms[] = [];
  for (const line of settings.replace(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const [, named, rest] = /^\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\](.*)$/.exec(line) ?? [];
    if (named !== undefined) section = named.toLowerCase();
    const [, key = "", value = ""] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(rest ?? line) ?? [];
    if (key === "" || harmless.has(section.split(".")[0] ?? "")) continue;
    const name = `${section}.${key.toLowerCase()}`;
    // A folder of hooks is one path, blanks and all; commands are words of a shell.
    const plain = value.replaceAll('"', "").trim();
    const words = name === "core.hookspath" ? [plain] : wordsIn(plain);
    found.push({ key: name, words: words.filter((word) => word !== "" && !/^(?:true|false|\d+)$/i.test(word)) });
  }
  return found;
}
