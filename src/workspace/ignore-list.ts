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
  const rules = text.split("\n").filter((rule) => rule.trim() !== "");
  const ofPaths = rules.filter((rule) => !isOfNames(rule));
  // The last rule that matches decides, so rules with exceptions stay together.
  const isWhole = ofPaths.length > 0 && rules.some((rule) => rule.startsWith("!"));
  const names = isWhole ? null : matcherOf(rules.filter(isOfNames));
  const paths = matcherOf(isWhole ? rules : ofPaths);
  const starts = isWhole ? null : startsOf(ofPaths);
  const mayStart = (name: string) => starts === null || starts.has(name);
  return {
    within(folder) {
      const isTop = folder === "";
      const prefix = isTop ? "" : `${folder}/`;
      const isPossible = paths !== null && (isTop || mayStart(prefix.slice(0, prefix.indexOf("/"))));
      return (name, isFolder) => {
        const written = isFolder ? `${name}/` : name;
        const verdict = judge(names, written);
        if (verdict !== null || !isPossible || (isTop && !mayStart(name))) return verdict;
        return judge(paths, prefix + written);
      };
    },
  };
}

const matcherOf = (rules: readonly string[]): Matcher | null =>
  rules.length === 0 ? null : ignore({ ignorecase: false }).add(rules.join("\n"));

function judge(matcher: Matcher | null, path: string): IgnoreVerdict {
  if (matcher === null) return null;
  const { ignored, unignored } = matcher.test(path);
  if (ignored) return "ignored";
  return unignored ? "unignored" : null;
}

/** Whether a rule matches a path exactly when it matches the last name in it. */
function isOfNames(rule: string): boolean {
  const pattern = rule
    .replace(/^!/, "")
    .replace(/^\*\*\//, "")
    .trimEnd()
    .replace(/\/$/, "");
  return pattern !== "" && !/[/\\]|\*\*/.test(pattern);
}

/** The first names of the paths that these rules match; null: they can be any. */
function startsOf(rules: readonly string[]): ReadonlySet<string> | null {
  const starts = new Set<string>();
  for (const rule of rules) {
    const [, start] = /^\/?([^/*?[\\]+)(?:\/|$)/.exec(rule.replace(/ +$/, "")) ?? [];
    if (start === undefined || rule.includes("\\")) return null;
    starts.add(start);
  }
  return starts;
}
