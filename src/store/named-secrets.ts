/** Secrets that are known before a run reads anything: those of the environment and of the project's `.env` files. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { providers } from "../core/providers.ts";
import { findSpans } from "../core/secrets/key-shapes.ts";
import { readSmall } from "../system/read-small.ts";

/** Their usual names in the root; others are closed as well, but not read. */
const files = [".env", ".env.local", ".env.development", ".env.production", ".env.test", ".env.staging", ".envrc"];
const maxBytes = 64 * 1024;
/** One setting; its value may stand without quotation marks. */
const setting = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*["']?([^\s"']+)/gm;
/** Words anywhere in a name, as in `API_KEY_2`; text is taken to tell of a secret only where the word ends the name. */
const secretName =
  /secret|token|passw|pwd|credential|(?:api|access|private|auth|account|signing|master|encryption)_?key/i;

function secretsIn(text: string): readonly string[] {
  const spans = findSpans(text).filter(({ kind }) => kind !== "private key");
  return spans.map(({ start, end }) => text.slice(start, end));
}

/** A key of a provider in its own variable: no search has to tell that it is secret. */
const isProviderKey = (name: string, value: string): boolean =>
  /^[\w-]{20,}$/.test(value) &&
  providers.some(({ keyVariables, keyShape }) => {
    return keyShape !== null && keyVariables.includes(name) && value.startsWith(keyShape.prefix);
  });

const render = (name: string, value: string) => `${secretName.test(name) ? "secret" : name}="${value}"\n`;

/**
 * Values whose name and look say that they are secret. The model sees none of these texts, but may see a value elsewhere.
 * `known`: values that are known anyway, as pai's own keys are, which need no search.
 */
export function findNamedSecrets(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
  known: readonly string[] = [],
): readonly string[] {
  const unknown = Object.entries(env).filter(([, value = ""]) => !known.includes(value));
  const keys = unknown.flatMap(([name, value = ""]) => (isProviderKey(name, value) ? [value] : []));
  const variables = unknown.flatMap(([name, value = ""]) => (keys.includes(value) ? [] : [render(name, value)]));
  const present = files.filter((name) => existsSync(join(root, name)));
  const texts = present.flatMap((name) => {
    const text = readSmall(join(root, name), maxBytes) ?? "";
    return [text, ...text.matchAll(setting).map(([, name = "", value = ""]) => render(name, value))];
  });
  return [...new Set([...keys, ...[...variables, ...texts].flatMap(secretsIn)])];
}
