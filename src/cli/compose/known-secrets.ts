/** The secrets that are known before anything is read: the keys that pai holds, of variables and of `.env` files. */
import { isHeld, maskHeld } from "../../core/secrets/held-keys.ts";
import { holdKeys } from "../../store/keys.ts";
import { findNamedSecrets } from "../../store/named-secrets.ts";
import { envFlag } from "../flag-values.ts";
import type { Base } from "./base.ts";

/** `root`: the folder of the `.env` files. `keys`: those in use. */
export function knownSecrets(base: Base, root: string, keys: readonly string[] = []): readonly string[] {
  const { context, settings, places } = base;
  const held = holdKeys({ env: context.env, places }, settings.providers).filter(isHeld);
  const known = [...new Set([...keys, ...held])];
  const given = [...settings.commands.env, ...envFlag(context.flags)];
  return [...known, ...findNamedSecrets({ env: context.env, root, given, known })];
}

/** The text with those secrets masked, for what is kept. */
export const maskKnown = (base: Base, root: string, text: string): string =>
  maskHeld(knownSecrets(base, root)).text(text);
