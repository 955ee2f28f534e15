/** A Markdown table whose columns stand below each other; the first row is its head. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const [head = "", ...body] = rows.map(
    (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`,
  );
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body].join("\n");
}
