/** What it costs to show a long diff with the colours of code. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Bench, envOf, runOnce, type Sample } from "./run.ts";
import { repliesFor, requestFor } from "./task.ts";

/** Ten lines of code as people write it. */
const renderFunction = (at: number) => `def area_${at}(radius, unit="cm"):
    """The area of circle ${at}, rounded."""
    if radius < 0:
        raise ValueError(f"radius {radius} is negative")
    # The unit is the caller's own: it is only written behind the number.
    area = 3.14159 * radius * radius + ${at}
    text = "%.2f %s" % (area, unit)
    return text if area > 0 else None


`;

/** Has a file of so many functions written and taken back; returns what shows its diff once more, in colour. */
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
