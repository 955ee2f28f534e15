/** Short ways for tests to parse a reply and to look at its actions; the shared cases. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StopReason } from "../../../src/core/model.ts";
import { parseScript } from "../../../src/core/script/parser.ts";
import type { Script } from "../../../src/core/script/script.ts";

export interface Case {
  readonly id: string;
  readonly note?: string;
  readonly stream: string;
  readonly stop: StopReason;
  readonly files?: Record<string, string>;
  readonly expect: unknown;
  readonly truncated: boolean;
  /** Absent: not looked at. */
  readonly warnings?: Script["warnings"];
  readonly remarks?: Script["remarks"];
  readonly isWhole?: boolean;
  readonly cut?: Script["cut"];
}

const file = readFileSync(join(import.meta.dir, "../../data/script_cases.jsonl"), "utf8");
export const cases = Bun.JSONL.parse(file) as readonly Case[];

export function parse(stream: string, files: Record<string, string> = {}, stop: StopReason = "end"): Script {
  return parseScript(stream, { stop, read: (path) => files[path] ?? null });
}

/** Actions without their lines. */
export function bare(actions: Script["actions"]) {
  return actions.map(({ line: _, ...action }) => action);
}

export function actionsOf(stream: string, files: Record<string, string> = {}, stop: StopReason = "end") {
  return bare(parse(stream, files, stop).actions);
}

/** What `FINISH::ok` comes to. */
export const finish = { cmd: "FINISH", arg: "ok", next: [] };
