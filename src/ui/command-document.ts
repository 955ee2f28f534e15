/** `--json` of the commands that are no run. */

import type { Failure } from "../core/error.ts";
import { spellInJson } from "../core/invisible.ts";
import type { Notice } from "../core/question.ts";
import { maskAll } from "../core/secrets/key-shapes.ts";

export const spellJson = (value: unknown): string => spellInJson(JSON.stringify(value));

export type NoticeTexts = readonly Pick<Notice, "level" | "code" | "text">[];

export const noticesOf = (notices: NoticeTexts) => notices.map(({ level, code, text }) => ({ level, code, text }));

interface CommandDocument {
  readonly command: string;
  readonly code: number;
  readonly data: unknown;
  readonly notices: NoticeTexts;
  readonly error: Failure | null;
}

export function renderCommandDocument({ command, code, data, notices, error }: CommandDocument): string {
  const found = { data: data ?? null, notices: noticesOf(notices), error };
  return `${spellJson(maskAll({ v: 1, ok: code === 0, command, code, ...found }))}\n`;
}
