/** Words an error for people: what, why, what to do; the important line last. */
import type { PaiError } from "../core/error.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { hang, wrap } from "../ui/layout.ts";
import { visible } from "../ui/sanitize.ts";

/** Ends in a line feed. `columns` null: not for a terminal, nothing is wrapped. */
export function renderError({ code, message, hint }: PaiError, columns: number | null): string {
  const title = code === "internal" ? "internal error, please report it: " : "";
  const shown = (text: string) => visible(maskSecrets(text));
  const lines = [
    ...wrap(`pai: ${shown(title + message)}`, columns),
    ...(hint === null ? [] : hang("  ", shown(hint), columns)),
  ];
  return `${lines.join("\n")}\n`;
}
