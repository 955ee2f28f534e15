/** Finds the names that a source file defines at its top level, by the look of its lines. */

const script =
  /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|interface|type|enum|namespace)\s+([\w$]+)|^export\s+(?:declare\s+)?(?:const|let|var)\s+(?:enum\s+)?([\w$]+)|^(?:const|let|var)\s+([\w$]+)[^=]{0,200}=\s*(?:async\b|function\b|class\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)|^(?:module\.)?exports\.([\w$]+)\s*=/;
const python = /^(?:async\s+)?(?:def|class)\s+(\w+)/;
const go = /^func\s+(?:\([^)]*\)\s*)?(\w+)|^type\s+(\w+)/;
const rust =
  /^(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|unsafe|const|extern\s+"[^"]*")\s+)*(?:fn|struct|enum|trait|union|type|macro_rules!)\s+(\w+)/;
const java =
  /^(?:\t| {2}| {4})?(?:(?:public|protected|private|internal|abstract|final|sealed|static|open|data|override)\s+)*(?:class|interface|enum|record|object|fun)\s+(\w+)|^(?:\t| {2}| {4})(?:(?:public|protected|private|static|final|abstract|synchronized|override|async)\s+)+[\w<>[\],.?]+(?:\s[\w<>[\],.?]+)?\s+(\w+)\s*\([^;]*$/;
const c =
  /^(?:typedef\s+)?(?:struct|enum|union|class|namespace)\s+(\w+)[^;()]*$|^[A-Za-z_][\w<>:,]*(?:\s+[\w<>:,]+){0,4}[\s*&]+([\w:~]+)\s*\([^;]*$/;
const ruby = /^(?: {2}|\t)?def\s+(?:self\.)?([\w?!=]+)|^(?:class|module)\s+([\w:]+)/;
const php =
  /^(?: {4}|\t)?(?:(?:public|protected|private|static|abstract|final)\s+)*function\s+&?(\w+)|^(?:(?:abstract|final|readonly)\s+)*(?:class|interface|trait|enum)\s+(\w+)/;
const shell = /^function\s+([\w-]+)|^([\w-]+)\s*\(\)/;

const languages: readonly (readonly [endings: string, definition: RegExp])[] = [
  ["ts tsx mts cts js jsx mjs cjs", script],
  ["py pyi", python],
  ["go", go],
  ["rs", rust],
  ["java kt kts cs", java],
  ["c h cc cpp cxx hh hpp", c],
  ["rb", ruby],
  ["php", php],
  ["sh bash zsh", shell],
];

const byEnding = new Map(
  languages.flatMap(([endings, shape]) => endings.split(" ").map((ending) => [ending, shape] as const)),
);

/** Names of functions, classes and types; in Java, Ruby and PHP also of methods. Empty for other files. */
export function findDefinitions(path: string, text: string): ReadonlySet<string> {
  const names = new Set<string>();
  const shape = byEnding.get(path.slice(path.lastIndexOf(".") + 1).toLowerCase());
  if (shape === undefined) return names;
  for (const line of text.split(/\r?\n/)) {
    if (line.length > 500 || /^(?:else|return|if|for|while|switch)\b/.test(line)) continue;
    const name = shape
      .exec(line)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (name !== undefined) names.add(name);
  }
  return names;
}
