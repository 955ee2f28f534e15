/** Words an error for people: what, why, what to do; the important line last. */
import type { PaiError } from "../core/error.ts";
import { maskSecrets } from "../core/secret.ts";
import { visible } from "../ui/sanitize.ts";

export function renderError(error: PaiError): string {
  const title = error.code === "internal" ? "internal error, please report it: " : "";
  const hint = error.hint === null ? "" : `\n  ${error.hint}`;
  return `pai: ${visible(maskSecrets(`${title}${error.message}${hint}`))}\n`;
}
