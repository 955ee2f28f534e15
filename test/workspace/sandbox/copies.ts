/** Commands on copies of a workspace, for tests. */
import type { Change } from "../../../src/core/change.ts";
import type { CommandOptions, Transaction } from "../../../src/core/ports.ts";
import { defaultSandbox } from "../../../src/workspace/sandbox/settings.ts";
import { needs } from "../../needs.ts";
import { beginBare, quick } from "../bare.ts";
import { makePlace, type Place } from "../tree.ts";
import { copies } from "./here.ts";

/** What a place holds if a test does not say otherwise. */
export const copied = {
  "a.txt": "a\n",
  "b.txt": "b\n",
  "src/deep/c.txt": "c\n",
  "gone/x": "x\n",
  ".gitignore": "build/\n*.log\n",
  "node_modules/x/i.js": "1\n",
};

/** A test of what commands do to a copy of a place that holds these files. */
export const onCopies = (
  title: string,
  use: (place: Place) => Promise<void>,
  given: Readonly<Record<string, string>> = copied,
) => needs(copies).test(title, () => use(makePlace(given)));

/** A command on a copy, after these changes of its run. */
export async function run(
  place: Place,
  command: string,
  options: Partial<CommandOptions> = {},
  changes: Parameters<Transaction["apply"]>[0] = [],
) {
  const { tx: transaction, ...opened } = await beginBare(place.work, place.state, { sandbox: defaultSandbox });
  if (changes.length > 0) await transaction.apply(changes, "plan");
  const result = await transaction.run(command, { ...quick, sandbox: "proposal", ...options });
  return { opened, transaction, result };
}

export const say = ({ path, before, after }: Change) => {
  const what = after === null ? "delete" : before === null ? "create" : "change";
  const kind = (after ?? before)?.kind;
  return `${what} ${kind} ${path}${after?.kind === "file" ? ` ${Buffer.from(after.bytes)}`.trimEnd() : ""}`;
};
