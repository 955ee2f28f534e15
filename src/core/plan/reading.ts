/** Reads a value from a model or a file by its schema; faults are worded for whoever has to repair it. */
import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

// Messages in English. `jitless`: zod need not test whether `eval` works, which pai never uses.
z.config({ ...en(), jitless: true });

export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** `whole`: what a fault of the value itself is called; at most five faults are reported. */
export function readAs<T>(schema: z.ZodMiniType<T>, value: unknown, whole: string): Reading<T> {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const faults = parsed.error.issues.slice(0, 5);
  return { ok: false, why: faults.map(({ path, message }) => `${path.join(".") || whole}: ${message}`).join("; ") };
}
