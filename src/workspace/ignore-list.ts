/** One list of ignore rules; the library is only asked about names and paths that a rule can match. Pure. */
import ignore, { type Ignore } from "ignore";

/** null: no rule of the list matches. */
export type IgnoreVerdict = "ignored" | "unignored" | null;

export interface IgnoreList {
  /**
   * Returns the judge of a folder's children. `folder`: its path from the folder of the list, "" for that one; no folder
   * on the way is ignored.
   */
  within(folder: string): (name: string, isFolder: boolean) => IgnoreVerdict;
}

type Matcher = Pick<Ignore, "test">;

/** `text`: one rule a line, without comments, as in `.gitignore`. */
export function openIgnoreList(text: string): IgnoreList {
  const rules = text.split("\n").filter((rule) => rule !== "");
  const ofNames = rules.filter(isOfNames);
  const ofPaths = rules.filter((rule) => !isOfNames(rule));
  // The last rule that matches decides, so rules with exceptions stay together.
  const isWhole = ofPaths.length > 0 && rules.some((rule) => rule.startsWith("!"));
  const names = isWhole ? null : matcherOf(ofNames);
  const paths = matcherOf(isWhole ? rules : ofPaths);
  const mayMatch = filterOf(ofNames);
  const starts = startsOf(ofPaths);
  const mayStart = (name: string) => starts === null || starts.has(name);
  return {
    within(folder) {
      const isTop = folder === "";
      const prefix = isTop ? "" : `${folder}/`;
      const isBelowStart = !isTop && mayStart(prefix.slice(0, prefix.indexOf("/")));
      return (name, isFolder) => {
        const written = isFolder ? `${name}/` : name;
        const isNamed = mayMatch(name);
        const verdict = isNamed ? judge(names, written) : null;
        const isReached = isTop ? mayStart(name) : isBelowStart;
        return verdict ?? (isReached || (isWhole && isNamed) ? judge(paths, prefix + written) : null);
      };
    },
  };
}

/** The library takes a byte order mark at the very beginning for that of a file. */
const matcherOf = (rules: readonly string[]): Matcher | null =>
  rules.length === 0 ? null : ignore({ ignorecase: false }).add(`\n${rules.join("\n")}`);

function judge(matcher: Matcher | null, path: string): IgnoreVerdict {
  if (matcher === null) return null;
  const { ignored, unignored } = matcher.test(path);
  if (ignored) return "ignored";
  return unignored ? "unignored" : null;
}

const patternOf = (rule: string): string =>
  rule
    .replace(/^!?(?:\*\*\/)?/, "")
    .replace(/ +$/, "")
    .replace(/\/$/, "");

/** Whether a rule matches a path exactly when it matches the last name in it. */
function isOfNames(rule: string): boolean {
  const pattern = patternOf(rule);
  return pattern !== "" && !/[/\\]|\*\*/.test(pattern);
}

/** With more patterns than this, looking for their texts in each name would take longer than the library does. */
const maxParts = 50;

/** Tells of most names that no rule matches them, by the longest text that a match must contain. */
function filterOf(rules: readonly string[]): (name: string) => boolean {
  const exact = new Set<string>();
  const parts: string[] = [];
  for (const pattern of rules.map(patternOf)) {
    if (!/[*?[]/.test(pattern)) exact.add(pattern);
    else parts.push(longestOf((pattern.split("[")[0] ?? "").split(/[*?]+/)));
  }
  if (parts.length > maxParts) return () => true;
  return (name) => exact.has(name) || parts.some((part) => name.includes(part));
}

const longestOf = (texts: readonly string[]): string =>
  texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "");

/** The first names of the paths that these rules match; null: they can be any. */
function startsOf(rules: readonly string[]): ReadonlySet<string> | null {
  const starts = new Set<string>();
  for (const rule of rules) {
    const [, start] = /^\/?([^/*?[\\]+)(?:\/|$)/.exec(rule.replace(/^!/, "").replace(/ +$/, "")) ?? [];
    if (start === undefined || rule.includes("\\")) return null;
    starts.add(start);
  }
  return starts;
}
