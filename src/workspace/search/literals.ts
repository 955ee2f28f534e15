/** What every match of a pattern holds, so that text without it need not be tried. */

/** What a pattern, or a part of it, surely matches: one of these texts; null: unknown. */
type Sure = readonly string[] | null;

const shortest = (texts: Sure): number => (texts === null ? 0 : Math.min(...texts.map(({ length }) => length)));
const better = (a: Sure, b: Sure): Sure => (shortest(b) > shortest(a) ? b : a);

/** One character, escaped or not, or a class; with how often it comes. */
const atomShape = /^(?:\\(.)|\[(?:\\.|[^\\\]])*\]|(.))((?:[?*+]|\{\d+(?:,\d*)?\})\??)?/s;
const groupShape = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/;
const timesShape = /^(?:(?:[?*+]|\{\d+(?:,\d*)?\})\??)?/;

/** The character that an atom surely matches; null: it may match others, or nothing. */
function literalOf([, escaped, plain, times = ""]: RegExpExecArray): string | null {
  if (times !== "" && !times.startsWith("+")) return null;
  if (escaped !== undefined) return /^[!-/:-@[-`{-~]$/.test(escaped) ? escaped : null;
  return plain !== undefined && /^[^.^$]$/.test(plain) && /[ -~]/.test(plain) ? plain : null;
}

/** Reads a valid pattern from left to right. */
function readPattern(source: string): Sure {
  let rest = source;
  const take = (shape: RegExp): RegExpExecArray => {
    const found = shape.exec(rest) as RegExpExecArray;
    rest = rest.slice(found[0].length);
    return found;
  };
  const group = (): Sure => {
    const [open] = take(groupShape);
    const inner = branches();
    rest = rest.slice(1);
    const [times] = take(timesShape);
    return /[=!]$/.test(open) || !/^\+?\??$/.test(times) || times === "?" ? null : inner;
  };
  /** Characters up to a group, an atom that is none, or a repeated one: what follows that is no longer the same text. */
  const run = (): Sure => {
    let text = "";
    while (!/^(?:[|()]|$)/.test(rest)) {
      const atom = take(atomShape);
      const literal = literalOf(atom);
      text += literal ?? "";
      if (literal === null || atom[3] !== undefined) break;
    }
    return text === "" ? null : [text];
  };
  const sequence = (): Sure => {
    let best: Sure = null;
    while (!/^(?:[|)]|$)/.test(rest)) best = better(best, rest.startsWith("(") ? group() : run());
    return best;
  };
  const branches = (): Sure => {
    let all = sequence();
    while (rest.startsWith("|")) {
      rest = rest.slice(1);
      const next = sequence();
      all = all === null || next === null ? null : [...all, ...next];
    }
    return all;
  };
  return branches();
}

/**
 * Tells whether some line of a text may match, by its bytes in any encoding but the wide ones. null: the pattern does not
 * say what its matches hold.
 */
export function openSieve({ source, ignoreCase }: { readonly source: string; readonly ignoreCase: boolean }) {
  // Behind these stand letters that are no text.
  const sure = /\\[xucpPk\d]|\(\?[a-z-]/.test(source) ? null : readPattern(source);
  if (sure === null || shortest(sure) < 2) return null;
  if (!ignoreCase) {
    const wanted = sure.map((text) => Buffer.from(text, "latin1"));
    return (bytes: Buffer): boolean => wanted.some((each) => bytes.includes(each));
  }
  const wanted = new RegExp(sure.map((text) => text.replace(/[^\w\s]/g, "\\$&")).join("|"), "i");
  return (bytes: Buffer): boolean => wanted.test(bytes.toString("latin1"));
}
