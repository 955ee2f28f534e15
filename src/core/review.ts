/** Findings of a review: their schema, the parts of a large diff that are reviewed one by one, and how findings read. Pure. */

export const severities = ["high", "medium", "low"] as const;
export type Severity = (typeof severities)[number];

export interface ReviewFinding {
  readonly path: string;
  /** From 1; null: the whole file. */
  readonly line: number | null;
  readonly severity: Severity;
  readonly text: string;
  /** What to write instead; null: nothing is suggested. */
  readonly suggestion: string | null;
}

/** JSON Schema (draft 2020-12) of what a review answers. */
export const reviewSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    findings: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string" },
          line: { type: ["integer", "null"], minimum: 1 },
          severity: { enum: [...severities] },
          text: { type: "string" },
          suggestion: { type: ["string", "null"] },
        },
        required: ["path", "line", "severity", "text", "suggestion"],
      },
    },
  },
  required: ["findings"],
} as const;

export interface ReviewPart {
  readonly path: string;
  readonly text: string;
}

/** The files of a diff that git made, each with its text. */
export function splitDiff(diff: string): readonly ReviewPart[] {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((text) => text.startsWith("diff --git "))
    .map((text) => {
      const [, to, from] = /^\+\+\+ (?:b\/(.*)|.*)$/m.exec(text) ?? [];
      const [, old = ""] = /^--- (?:a\/(.*)|.*)$/m.exec(text) ?? [];
      return { path: to ?? from ?? old, text };
    });
}

/** Cuts a text behind lines into pieces of at most `most` characters; a longer line stays whole. */
function cutText(text: string, most: number): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    if (piece !== "" && piece.length + line.length > most) {
      pieces.push(piece);
      piece = "";
    }
    piece += line;
  }
  return piece === "" ? pieces : [...pieces, piece];
}

/** Joins small parts and cuts large ones, so that each text has at most about `most` characters. */
export function packParts(parts: readonly ReviewPart[], most: number): readonly string[] {
  const packed: string[] = [];
  for (const { text } of parts)
    for (const piece of cutText(text, most)) {
      const last = packed.at(-1);
      if (last !== undefined && last.length + piece.length <= most) packed[packed.length - 1] = last + piece;
      else packed.push(piece);
    }
  return packed;
}

const rankOf = ({ severity }: Pick<ReviewFinding, "severity">): number => severities.indexOf(severity);

export const inOrderOfWeight = (findings: readonly ReviewFinding[]): readonly ReviewFinding[] =>
  findings.toSorted(
    (a, b) => rankOf(a) - rankOf(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : (a.line ?? 0) - (b.line ?? 0)),
  );

export const asGraveAs = (findings: readonly ReviewFinding[], severity: Severity): readonly ReviewFinding[] =>
  findings.filter((finding) => rankOf(finding) <= severities.indexOf(severity));

export function renderFinding({ path, line, severity, text, suggestion }: ReviewFinding): string {
  const place = line === null ? path : `${path}:${line}`;
  const instead =
    suggestion === null || suggestion.trim() === "" ? "" : `\n    ${suggestion.trim().replaceAll("\n", "\n    ")}`;
  return `${place}  ${severity}  ${text.trim()}${instead}\n`;
}
