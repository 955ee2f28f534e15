/** What every test of the change guard starts from: changes of texts, and which rules refuse them. */
import type { Change } from "../../../src/core/change.ts";
import { type GuardLimits, judge } from "../../../src/core/guard/guard.ts";

export const limits: GuardLimits = { lines: 500 };

export interface Options {
  readonly limits?: GuardLimits;
  readonly deletes?: readonly string[];
  readonly texts?: readonly string[];
  readonly earlier?: readonly Change[];
}

export const judgeChanges = (batch: readonly Change[], options: Options = {}) =>
  judge({
    earlier: options.earlier ?? [],
    batch,
    limits: options.limits ?? limits,
    planned: { by: "plan", deletes: options.deletes ?? [], texts: options.texts ?? [] },
  });
export const rulesOf = (batch: readonly Change[], options?: Options) =>
  judgeChanges(batch, options).map(({ path, verdict, rule }) => `${path} ${verdict} ${rule}`);
