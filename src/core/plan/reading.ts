/** Reads by its schema what a model or a file holds; what is wrong with it is worded for whoever has to repair it. */
import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

// Messages in English; and zod need not try whether code may be made of text: in pai it may not.
z.config({ ...en(), jitless: true });

export type Reading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** `whole` names the value itself; at most five faults are reported. */
export function readAs<T>(schema: z.ZodMiniType<T>, value: unknown, whole: string): Reading<T> {
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const faults = parsed.error.issues.slice(0, 5);
  return { ok: false, why: faults.map(({ path, message }) => `${path.join(".") || whole}: ${message}`).join("; ") };
}
