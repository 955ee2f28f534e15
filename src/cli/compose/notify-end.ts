/** Notifies the user of the end of a long run: rings the bell, or starts the user's program. */
import { toPaiError } from "../../core/error.ts";
import type { Outcome } from "../../core/outcome.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { pathOutside } from "../../system/lookups.ts";
import { visibleLine } from "../../ui/sanitize.ts";
import type { Context } from "../command.ts";
import type { Base } from "./base.ts";
import type { Face } from "./compose-model.ts";

const longMs = 10_000;
const maxTask = 80;

/** "pai: verified after 42 s: fix the test"; without control characters and keys. */
function renderEnd({ status, ms }: Outcome, task: string): string {
  const line = visibleLine(maskSecrets(task).trim().split("\n", 1)[0] ?? "");
  const short = line.length > maxTask ? `${line.slice(0, maxTask - 1).toWellFormed()}…` : line;
  return `pai: ${status} after ${Math.round(ms / 1000)} s: ${short}`;
}

/** Rings, or starts the program, without a shell, with one word more that says how the run ended. */
export function notifyEnd(
  { env, err, tty }: Pick<Context, "env" | "err" | "tty">,
  { settings, places, root }: Pick<Base, "settings" | "places" | "root">,
  outcome: Outcome,
  { task, notify }: { readonly task: string; readonly notify: Face["notify"] },
): void {
  const [program, ...words] = settings.notify ?? [];
  if (program === undefined || outcome.ms < longMs || outcome.error?.code === "interrupted") return;
  if (program === "bell" && words.length === 0) {
    if (tty.stderr) err("\x07");
    return;
  }
  const path = pathOutside(env["PATH"], root);
  const about = { PAI_RUN: outcome.run ?? "", PAI_STATUS: outcome.status, PAI_CODE: String(outcome.code) };
  try {
    const found = Bun.which(program, { PATH: path }) ?? program;
    Bun.spawn([found, ...words, renderEnd(outcome, task)], {
      cwd: places.home ?? "/",
      env: { ...env, PATH: path, ...about },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    }).unref();
  } catch (thrown) {
    const text = `the setting notify cannot run ${program}: ${toPaiError(thrown).message}`;
    notify({ level: "warning", code: "notify", text });
  }
}
