/** The completion script for bash, without any helper package. */
import type { FlagSpec } from "../flags.ts";
import { expectedValue, type Grammar } from "./grammar.ts";

const spelled = ({ name, short }: FlagSpec) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
const pattern = (flags: readonly FlagSpec[]) => flags.flatMap(spelled).join("|");
const longNames = (flags: readonly FlagSpec[]) => flags.map(({ name }) => `--${name}`).join(" ");

/** A branch of `case`; "" if nothing matches. */
const branch = (match: string, action: string) => (match === "" ? "" : `    ${match}) ${action} ;;\n`);

export function renderBash({ commands, bare }: Grammar): string {
  const all = [...new Map(commands.flatMap(({ flags }) => flags).map((flag) => [flag.name, flag])).values()];
  const taking = (kind: string) => pattern(all.filter((flag) => expectedValue(flag) === kind));
  const chosen = all.flatMap((flag) => {
    const choices = expectedValue(flag);
    return typeof choices === "string" ? [] : [branch(spelled(flag).join("|"), `_pai_offer "${choices.join(" ")}"`)];
  });
  const names = commands.map(({ name }) => name);
  return `# bash completion for pai; put it into a file that bash reads, or: source <(pai completion bash)

_pai_offer() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
  # Where bash cuts words at a colon, it replaces only the text after the last one.
  [[ $cur != *:* || $COMP_WORDBREAKS != *:* ]] || COMPREPLY=("\${COMPREPLY[@]#"\${cur%"\${cur##*:}"}"}")
}

_pai_paths() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

_pai_value() {
  case $1 in
${branch(taking("file"), "_pai_paths -f")}${branch(taking("folder"), "_pai_paths -d")}${chosen.join("")}${branch(taking("free"), ":")}    *) return 1 ;;
  esac
}

_pai_flags() {
  case $1 in
${commands.map(({ name, flags }) => branch(name, `_pai_offer "${longNames(flags)}"`)).join("")}    *) _pai_offer "${longNames(bare)}" ;;
  esac
}

_pai_words() {
  case $1 in
    "") _pai_offer "${names.join(" ")}" ;;
${commands
  .map(({ name, words, takesFile }) => {
    if (words.length > 0) return branch(name, `[[ $2 != "$1" ]] || _pai_offer "${words.join(" ")}"`);
    return takesFile ? branch(name, "_pai_paths -f") : "";
  })
  .join("")}  esac
}

_pai() {
  # Words as they were typed: bash would also cut at = and :
  local line=\${COMP_LINE:0:COMP_POINT} words=() cur prev command= word
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  cur=\${words[-1]} prev=\${words[-2]} COMPREPLY=()
  for word in "\${words[@]:1:\${#words[@]}-2}"; do
    case $word in
      ${names.join("|")}) command=$word && break ;;
    esac
  done
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*} cur=\${cur#*=}
    _pai_value "$prev"
    [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("\${COMPREPLY[@]/#/$prev=}")
    return 0
  fi
  _pai_value "$prev" && return 0
  if [[ $cur == -* ]]; then _pai_flags "$command"; else _pai_words "$command" "$prev"; fi
  return 0
}

complete -F _pai pai
`;
}
