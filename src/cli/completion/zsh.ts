/** The completion script for zsh, for a folder in its fpath or to be sourced. */
import { quoteForShell } from "../../core/command/quote.ts";
import type { FlagSpec } from "../flags.ts";
import { type Expected, expectedValue, type Grammar } from "./grammar.ts";

/** Escapes colons and brackets, which separate the fields of a specification. */
const protect = (text: string) => text.replace(/[\\:[\]]/g, "\\$&");

function argumentOf(flag: FlagSpec): string {
  const value = expectedValue(flag);
  const title = protect(flag.value ?? "");
  if (value === "none") return "";
  if (value === "free") return `:${title}: `;
  if (value === "file") return `:${title}:_files`;
  if (value === "folder") return `:${title}:_files -/`;
  return `:${title}:(${value.map((each) => each.replaceAll(":", "\\:")).join(" ")})`;
}

/** `--mode=` takes its value in the same or in the next word. */
function specify(flag: FlagSpec): readonly string[] {
  const { name, short, kind, about } = flag;
  const many = kind === "list" ? "*" : "";
  const rest = `[${protect(about)}]${argumentOf(flag)}`;
  const long = quoteForShell(`${many}--${name}${kind === "switch" ? "" : "="}${rest}`);
  return short === undefined ? [long] : [long, quoteForShell(`${many}-${short}${kind === "switch" ? "" : "+"}${rest}`)];
}

const specifyAll = (flags: readonly FlagSpec[]) => flags.flatMap(specify).join(" \\\n        ");

function wordOf({ words, takesFile }: Expected): string {
  if (words.length > 0) return ` \\\n        '1:word:(${words.join(" ")})'`;
  return takesFile ? " \\\n        '1:file:_files'" : "";
}

export function renderZsh({ commands, bare }: Grammar): string {
  const listed = commands.map(({ name, about }) => `    ${quoteForShell(`${name}:${about}`)}\n`).join("");
  const branches = commands.map(
    (command) => `      ${command.name}) _arguments -s \\
        ${specifyAll(command.flags)}${wordOf(command)} ;;
`,
  );
  return `#compdef pai
# zsh completion for pai; put it into your fpath as _pai, or: source <(pai completion zsh)

_pai() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  local -a commands=(
${listed}  )
  _arguments -C -s \\
        ${specifyAll(bare)} \\
        '1: :->command' '*:: :->words'
  case $state in
    command) _describe command commands ;;
    words) case $line[1] in
${branches.join("")}    esac ;;
  esac
}

if [[ $funcstack[1] == _pai ]]; then
  _pai "$@"
else
  compdef _pai pai
fi
`;
}
