/** Secrets that are known before a run reads anything: those of the environment and of the project's `.env` files. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findSpans } from "../core/secrets/key-shapes.ts";
import { readSmall } from "../system/read-small.ts";

/** Their usual names in the root; others are closed as well, but not read. */
const files = [".env", ".env.local", ".env.development", ".env.production", ".env.test", ".env.staging", ".envrc"];
const maxBytes = 64 * 1024;
/** `NAME=value` without quotation marks, with which shorter values are recognised. */
const bare = /^(\s*(?:export\s+)?\w+\s*=\s*)([^\s"'#]+)[ \t]*$/gm;

function secretsIn(text: string): readonly string[] {
  const spans = findSpans(text).filter(({ kind }) => kind !== "private key");
  return spans.map(({ start, end }) => text.slice(start, end));
}

/** Values whose name and look say that they are secret. The model sees none of these texts, but may see a value elsewhere. */
export function toldSecrets(env: Readonly<Record<string, string | undefined>>, root: string): readonly string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}="${value}"\n`);
  const paths = files.map((name) => join(root, name)).filter((path) => existsSync(path));
  const texts = paths.map((path) => (readSmall(path, maxBytes) ?? "").replace(bare, '$1"$2"'));
  return [...new Set([...variables, ...texts].flatMap(secretsIn))];
}
