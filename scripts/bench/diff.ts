/** Measures the cost of showing a long diff with highlighted code. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Bench, envOf, runOnce, type Sample } from "./run.ts";
import { repliesFor, requestFor } from "./task.ts";

/** Ten lines of realistic code. */
const renderFunction = (at: number) => `def area_${at}(radius, unit="cm"):
    """The area of circle ${at}, rounded."""
    if radius < 0:
        raise ValueError(f"radius {radius} is negative")
    # The unit is the caller's own: it is only written behind the number.
    area = 3.14159 * radius * radius + ${at}
    text = "%.2f %s" % (area, unit)
    return text if area > 0 else None


`;

/** Has a file with this many functions written and undone; returns a function that shows its diff again, in colour. */
export async function prepareDiff(bench: Bench, functions: number): Promise<() => Promise<Sample>> {
  bench.next += 1;
  const cwd = join(bench.place, `diff-${bench.next}`);
  mkdirSync(cwd);
  const text = Array.from({ length: functions }, (_, at) => renderFunction(at)).join("");
  const [plan = ""] = repliesFor("empty", 1);
  bench.server.play([plan, `WRITE::area.py::EOT\n${text}END::EOT\nFINISH::EOT\nwritten\nEND::EOT\n`]);
  await runOnce([bench.pai, "run", "-y", requestFor(bench.next)], cwd, envOf(bench));
  await runOnce([bench.pai, "undo", "-y"], cwd, envOf(bench));
  return () => runOnce([bench.pai, "redo", "-n"], cwd, { ...envOf(bench), FORCE_COLOR: "1" });
}
