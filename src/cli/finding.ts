/** What `pai doctor` examines, and what it finds. */
import { toPaiError } from "../core/error.ts";
import type { Places } from "../store/places.ts";
import type { Context } from "./command.ts";

export interface Finding {
  readonly name: string;
  readonly level: "ok" | "warning" | "error";
  readonly text: string;
  readonly hint: string | null;
}

export interface Patient {
  readonly context: Context;
  readonly places: Places;
  readonly root: string;
}

const findingOf =
  (level: Finding["level"]) =>
  (name: string, text: string, hint: string | null = null): Finding => ({ name, level, text, hint });

export const fine = findingOf("ok");
export const warning = findingOf("warning");
export const failed = (name: string, thrown: unknown, level: "warning" | "error" = "error"): Finding => {
  const { message, hint } = toPaiError(thrown);
  return { name, level, text: message, hint };
};
