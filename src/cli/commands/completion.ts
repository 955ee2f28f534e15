/** `pai completion`: scripts for shells, which ask pai what may follow on a line. */
import { providerIds } from "../../core/providers.ts";
import { knownModels } from "../../models/catalogue.ts";
import { showResult } from "../answer-document.ts";
import { chooseWord } from "../choose-word.ts";
import type { Command, Handler } from "../command.ts";
import type { FlagSpec } from "../flags.ts";

type Offers = readonly { readonly name: string; readonly about: string }[] | ":files" | ":folders";

const named = (names: readonly string[]): Offers => names.map((name) => ({ name, about: "" }));

function valuesOf({ value, choices }: FlagSpec): Offers {
  if (choices !== undefined) return named(choices);
  if (value === "PROVIDER:NAME") return named(knownModels.map(({ provider, name }) => `${provider}:${name}`));
  if (value === "PROVIDER") return named(providerIds);
  return value === "FILE" ? ":files" : value === "DIR" ? ":folders" : [];
}

/** What the first word of a command may be, by its hint: `plan|json`, COMMAND, a file. */
function firstWordsOf({ usage }: Command, commands: readonly Command[]): Offers {
  const [hint = ""] = usage.replace(/[[\]]/g, "").split(" ");
  if (hint === "COMMAND") return commands;
  if (/^[a-z-]+(\|[a-z-]+)*$/.test(hint)) return named(hint.split("|"));
  return /^(FILE|[A-Z]+\.json)$/.test(hint) ? ":files" : [];
}

/** What may stand in the place of the last of these words, which follow `pai` on a line. `bare`: flags without a command. */
function offersAt(line: readonly string[], commands: readonly Command[], bare: readonly FlagSpec[]): Offers {
  const [typed = "", last = ""] = line.toReversed();
  const [command] = line.slice(0, -1).flatMap((word) => commands.find(({ name }) => name === word) ?? []);
  const flags = command?.flags ?? bare;
  const [given = "", text = last] = /^(--[\w-]+)=/.exec(typed) ?? [];
  const flag = flags.find(({ name, short }) => text === `--${name}` || text === `-${short}`);
  if (flag !== undefined && (given !== "" || flag.kind !== "switch")) {
    const values = valuesOf(flag);
    return typeof values === "string" ? values : values.map(({ name, about }) => ({ name: given + name, about }));
  }
  if (typed.startsWith("-")) return flags.map(({ name, about }) => ({ name: `--${name}`, about }));
  if (command === undefined) return commands;
  const words = firstWordsOf(command, commands);
  return words === ":files" || last === command.name ? words : [];
}

const scripts = {
  bash: `# bash completion for pai; put it into a file that bash reads, or: source <(pai completion bash)

_pai() {
  # Words as they were typed: bash would also cut at = and :
  local line=\${COMP_LINE:0:COMP_POINT} words=() cur mark upto cut= IFS=$' \\t\\n'
  read -a words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  cur=\${words[-1]}
  mapfile -t COMPREPLY < <("\${words[0]/#\\~\\//$HOME/}" completion line -- "\${words[@]:1}" 2>/dev/null)
  # Where bash cuts words at such a mark, it replaces only the text after the last one.
  for mark in = :; do
    upto=\${cur%"\${cur##*"$mark"}"}
    [[ $COMP_WORDBREAKS != *"$mark"* || \${#upto} -le \${#cut} ]] || cut=$upto
  done
  case \${COMPREPLY[0]-} in
    :files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "\${cur#--*=}") ;;
    :folders) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "\${cur#--*=}") ;;
    *) COMPREPLY=("\${COMPREPLY[@]%%$'\\t'*}") && COMPREPLY=("\${COMPREPLY[@]#"$cut"}") ;;
  esac
}

complete -F _pai pai
`,
  zsh: `#compdef pai
# zsh completion for pai; put it into your fpath as _pai, or: source <(pai completion zsh)

_pai() {
  local -a found offers
  found=("\${(@f)$("\${words[1]/#\\~\\//$HOME/}" completion line -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  case $found[1] in
    "") return 1 ;;
    :files) compset -P '--*='; _files ;;
    :folders) compset -P '--*='; _files -/ ;;
    *) offers=("\${(@)found//:/\\\\:}"); offers=("\${(@)offers/$'\\t'/:}"); _describe pai offers ;;
  esac
}

if [[ $funcstack[1] == _pai ]]; then
  _pai "$@"
else
  compdef _pai pai
fi
`,
  fish: `# fish completion for pai; put it into ~/.config/fish/completions/pai.fish, or: pai completion fish | source

function __pai_offers
    set -l words (commandline -xpc 2>/dev/null; or commandline -opc)
    set -l typed (commandline -ct)
    # env, since fish itself would tell of a command that does not exist
    set -l found (env (string replace -r '^~/' "$HOME/" -- $words[1]) completion line -- $words[2..-1] "$typed" 2>/dev/null)
    set -l flag (string match -r '^--[^=]*=' -- "$typed")
    set -l path (string replace -- "$flag" '' "$typed")
    switch "$found[1]"
        case ''
            return
        case ':files'
            complete -C "'' $path" | string replace -r '^' -- "$flag"
        case ':folders'
            complete -C "'' $path" | string match -r '.*/$' | string replace -r '^' -- "$flag"
        case '*'
            string join \\n -- $found
    end
end

complete -c pai -f -a '(__pai_offers)'
`,
} as const;
const shells = ["bash", "zsh", "fish"] as const;

export const completionCommand =
  (commands: readonly Command[], session: Command): Handler =>
  async (context) => {
    const [word = "", ...line] = context.words;
    if (word !== "line") {
      const shell = chooseWord("completion", context.words, shells);
      return showResult(context, "completion", { shell, script: scripts[shell] }, scripts[shell]);
    }
    const ofTask = commands.find(({ name }) => name === "run")?.flags ?? [];
    const offers = offersAt(line, commands, [...new Set([...ofTask, ...session.flags])]);
    const fitting = typeof offers === "string" ? [] : offers.filter(({ name }) => name.startsWith(line.at(-1) ?? ""));
    const rows = fitting.map(({ name, about }) => (about === "" ? name : `${name}\t${about}`));
    context.out((typeof offers === "string" ? [offers] : rows).map((row) => `${row}\n`).join(""));
    return 0;
  };
