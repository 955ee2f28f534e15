/** The stat of a name in an open folder: what `statOrRefused` returns, for many names in half the time. */
import { atFirstUse } from "../../core/at-first-use.ts";
import type { RelPath } from "../../core/path.ts";
import type { Handle } from "./backend.ts";
import { type Stat, statOrRefused } from "./stat.ts";
import { openWholeStatx } from "./statx.ts";

const wholeStatx = atFirstUse(openWholeStatx);

/** null: missing. Throws what `statOrRefused` throws. `path` is its name in messages. */
export function statIn({ fd, at }: Handle, name: string, path: RelPath): Stat | null {
  const stat = fd === null ? null : wholeStatx()?.(fd, name);
  return stat ?? statOrRefused(at, name, path);
}
