/** The secrets that are known before anything is read: the keys that pai holds, of variables and of `.env` files. */
import { createVeil } from "../../core/secrets/veil.ts";
import { holdKeys } from "../../store/keys.ts";
import { findNamedSecrets } from "../../store/named-secrets.ts";
import { envFlag } from "../flag-values.ts";
import type { Base } from "./base.ts";

/** `root`: the folder of the `.env` files. */
export function knownSecrets(base: Base, root: string): readonly string[] {
  const { context, settings, places } = base;
  const known = [...new Set(holdKeys({ env: context.env, places }, settings.providers))];
  const given = [...settings.commands.env, ...envFlag(context.flags)];
  return [...known, ...findNamedSecrets({ env: context.env, root, given, known })];
}

/** The text with those secrets hidden, for what is kept outside of a run. */
export const hideKnown = (base: Base, root: string, text: string): string =>
  createVeil({ known: knownSecrets(base, root) }).coverText(text);
