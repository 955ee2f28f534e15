/** What `pai doctor` examines, and what it finds. */
import type { Places } from "../store/places.ts";
import type { Context } from "./command.ts";

export interface Finding {
  readonly name: string;
  /** `error`: pai cannot work. */
  readonly level: "ok" | "warning" | "error";
  readonly text: string;
  readonly hint: string | null;
}

export interface Patient {
  readonly context: Context;
  readonly places: Places;
  readonly root: string;
}
