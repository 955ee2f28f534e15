/** The completion script for fish: a line for every command, word and flag. */
import type { FlagSpec } from "../flags.ts";
import { expectedValue, type Grammar } from "./grammar.ts";

const quote = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;

function argumentOf(flag: FlagSpec): string {
  const value = expectedValue(flag);
  if (value === "none") return "";
  if (value === "free") return " -x";
  if (value === "file") return " -r -F";
  if (value === "folder") return ` -x -a '(__fish_complete_directories)'`;
  return ` -x -a ${quote(value.join(" "))}`;
}

export function renderFish({ commands, bare }: Grammar): string {
  const names = commands.map(({ name }) => name).join(" ");
  const flags = [...new Map(commands.flatMap((command) => command.flags).map((flag) => [flag.name, flag])).values()];
  const isBare = new Set(bare.map(({ name }) => name));
  const lines = [
    ...commands.map(({ name, about }) => `complete -c pai -n __pai_bare -a ${name} -d ${quote(about)}`),
    ...commands
      .filter(({ words }) => words.length > 0)
      .map(({ name, words }) => `complete -c pai -n '__pai_after ${name}' -a ${quote(words.join(" "))}`),
    ...commands
      .filter(({ takesFile }) => takesFile)
      .map(({ name }) => `complete -c pai -n '__fish_seen_subcommand_from ${name}' -F`),
    ...flags.map((flag) => {
      const takers = commands.filter((command) => command.flags.includes(flag)).map(({ name }) => name);
      const seen = `__fish_seen_subcommand_from ${takers.join(" ")}`;
      const when = isBare.has(flag.name) ? `__pai_bare; or ${seen}` : seen;
      const short = flag.short === undefined ? "" : ` -s ${flag.short}`;
      return `complete -c pai -n ${quote(when)} -l ${flag.name}${short}${argumentOf(flag)} -d ${quote(flag.about)}`;
    }),
  ];
  return `# fish completion for pai; put it into ~/.config/fish/completions/pai.fish, or: pai completion fish | source

function __pai_bare
    not __fish_seen_subcommand_from ${names}
end

function __pai_after
    set -l words (commandline -xpc 2>/dev/null; or commandline -opc)
    test "$words[-1]" = "$argv[1]"
end

complete -c pai -f
${lines.join("\n")}
`;
}
