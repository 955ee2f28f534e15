/** Renders coloured terminal lines as an SVG picture. */

interface Look {
  readonly color: string;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly underline: boolean;
  readonly reverse: boolean;
}

interface Span {
  readonly text: string;
  /** Column at which the span begins. */
  readonly at: number;
  readonly look: Look;
}

const paper = "#16191f";
const ink = "#d6dae3";
const colors = ["#4b5262", "#f0717a", "#8fce7e", "#e5c06e", "#6fa8f5", "#cb8df0", "#5cc8d0", ink];
const plain: Look = { color: ink, bold: false, dim: false, underline: false, reverse: false };
const size = { font: 14, cell: 8.43, row: 19, margin: 18 };

const switches: Readonly<Record<number, Partial<Look>>> = {
  0: plain,
  1: { bold: true },
  2: { dim: true },
  4: { underline: true },
  7: { reverse: true },
  22: { bold: false, dim: false },
  24: { underline: false },
  27: { reverse: false },
  39: { color: ink },
};

/** The look after an escape sequence of colours; other sequences change nothing. */
function apply(look: Look, codes: readonly number[]): Look {
  let now = look;
  for (const code of codes[0] === 38 ? [] : codes) {
    const isColor = (code >= 30 && code < 38) || (code >= 90 && code < 98);
    const color = isColor ? colors[code % 10] : undefined;
    now = Object.assign({}, now, color === undefined ? switches[code] : { color });
  }
  return now;
}

function readSpans(lines: readonly string[]): Span[][] {
  let look = plain;
  return lines.map((line) => {
    const spans: Span[] = [];
    let at = 0;
    for (const [part] of line.matchAll(/\x1b\[[\d;]*m|[^\x1b]+/g)) {
      if (part.startsWith("\x1b")) look = apply(look, part.slice(2, -1).split(";").map(Number));
      else {
        spans.push({ text: part, at, look });
        at += Bun.stringWidth(part);
      }
    }
    return spans;
  });
}

const escapeXml = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

function renderSpan({ text, at, look }: Span, row: number): string {
  const [x, y] = [size.margin + at * size.cell, size.margin + (row + 1) * size.row];
  const width = Bun.stringWidth(text) * size.cell;
  const box = look.reverse
    ? `<rect x="${x.toFixed(1)}" y="${y - size.row + 5}" width="${width.toFixed(1)}" height="${size.row}" fill="${look.color}"/>`
    : "";
  if (text.trim() === "") return box;
  const more = [
    look.bold ? ' font-weight="bold"' : "",
    look.dim ? ' opacity="0.6"' : "",
    look.underline ? ' text-decoration="underline"' : "",
  ].join("");
  const color = look.reverse ? paper : look.color;
  return `${box}<text x="${x.toFixed(1)}" y="${y}" fill="${color}" textLength="${width.toFixed(1)}"${more}>${escapeXml(text)}</text>`;
}

/** A picture, `columns` wide, of lines with text and colours only. `title` is the text for screen readers. */
export function renderSvg(lines: readonly string[], columns: number, title: string): string {
  const [width, height] = [2 * size.margin + columns * size.cell, 2 * size.margin + lines.length * size.row];
  const rows = readSpans(lines).flatMap((spans, row) => spans.map((span) => renderSpan(span, row)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${size.font}" xml:space="preserve">
<title>${escapeXml(title)}</title>
<style>text{white-space:pre}</style>
<rect width="100%" height="100%" rx="8" fill="${paper}"/>
${rows.filter((row) => row !== "").join("\n")}
</svg>
`;
}
