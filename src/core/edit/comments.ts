/** Which lines of a file are comments and nothing else, by the file's name. */

interface Syntax {
  readonly line: readonly string[];
  readonly block: readonly [open: string, close: string] | null;
}

const slashes: Syntax = { line: ["//"], block: ["/*", "*/"] };
const hash: Syntax = { line: ["#"], block: null };
const markup: Syntax = { line: [], block: ["<!--", "-->"] };

const families: readonly (readonly [RegExp, Syntax])[] = [
  [
    /\.([cm]?[jt]sx?|cc?|cpp|cxx|h|hpp|cs|java|kts?|go|rs|swift|scala|dart|proto|zig|groovy|jsonc|less|scss)$/i,
    slashes,
  ],
  [/\.css$/i, { line: [], block: ["/*", "*/"] }],
  [/\.php$/i, { line: ["//", "#"], block: ["/*", "*/"] }],
  [/\.(py|pyi|rb|sh|bash|zsh|fish|ya?ml|toml|pl|pm|r|exs?|tf|mk|conf|nix|jl|ps1|cmake)$/i, hash],
  [/(^|\/)(makefile|dockerfile|justfile|gemfile|rakefile)$/i, hash],
  [/\.sql$/i, { line: ["--"], block: ["/*", "*/"] }],
  [/\.(lua|hs|elm|adb|ads)$/i, { line: ["--"], block: null }],
  [/\.(html?|xml|svg|vue|svelte)$/i, markup],
  [/\.(lisp|el|clj[cs]?|scm|ini|asm)$/i, { line: [";"], block: null }],
  [/\.(tex|erl|hrl)$/i, { line: ["%"], block: null }],
];

/** Rows that hold only a comment; none for a file whose language is not known. */
export function findComments(path: string, lines: readonly string[]): ReadonlySet<number> {
  const rows = new Set<number>();
  const syntax = families.find(([name]) => name.test(path))?.[1];
  if (syntax === undefined) return rows;
  const [open, close] = syntax.block ?? ["", ""];
  let inside = false;
  for (const [row, line] of lines.entries()) {
    const text = line.trim();
    const opens: boolean = !inside && open !== "" && text.startsWith(open);
    if (!inside && !opens) {
      if (syntax.line.some((mark) => text.startsWith(mark))) rows.add(row);
      continue;
    }
    inside = !text.slice(opens ? open.length : 0).includes(close);
    if (inside || text.endsWith(close)) rows.add(row);
  }
  return rows;
}
