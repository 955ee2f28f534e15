/** A task of an evaluation: what `task.json` holds, checked before anything is copied or paid for. Pure. */
import * as z from "zod/mini";
import { readAs } from "../../core/plan/lenient.ts";

/** A relative path in normal form, below the folder of the file that names it. */
export const insidePath = z
  .string()
  .check(
    z.refine(
      (path) => path !== "" && !/^\/|\\|\0|(^|\/)\.{0,2}(\/|$)/.test(path),
      "must be a relative path below its folder",
    ),
  );

const schema = z.object({
  /** The task that the candidate gets. */
  prompt: z.string().check(z.minLength(1)),
  /** Paths of `files/` that the candidate never sees; put back before the check. */
  hidden: z._default(z.array(insidePath), []),
  /** Paths of `files/` that solve the task; only the control `oracle` has them. */
  solution: z._default(z.array(insidePath), []),
  /** Exit 0 means solved. */
  check: z.string().check(z.minLength(1)),
  /** Seconds the check may take. */
  timeout: z._default(z.number().check(z.positive(), z.maximum(3600)), 60),
  /** Checks that the candidate may run itself, as `--check`. */
  checks: z._default(z.array(z.string()), []),
  /** The answer of the control `oracle`; the check finds a candidate's answer in $PAI_EVAL_ANSWER. */
  answer: z._default(z.string(), ""),
  licence: z.optional(z.string()),
  source: z.optional(z.string()),
});

export type TaskFile = z.infer<typeof schema>;

/** Reads the text of a `task.json`; a string in return says what is wrong with it. */
export function readTaskFile(text: string): TaskFile | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (thrown) {
    return `not JSON: ${(thrown as Error).message}`;
  }
  const reading = readAs(schema, json, "task.json");
  return reading.ok ? reading.value : reading.why;
}
