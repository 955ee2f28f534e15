/** Prints the result of a command that is no run: as text for people, or as its one JSON document. */
import type { Context } from "./command.ts";

/** `text` is printed as it is; `data` must be JSON-safe. Returns the exit code it was given. */
export async function showResult(
  context: Context,
  command: string,
  data: unknown,
  text: string,
  code = 0,
): Promise<number> {
  if (context.flags["json"] === true) {
    const { renderCommandDocument } = await import("../ui/json.ts");
    context.out(renderCommandDocument({ command, code, data, error: null }));
  } else context.out(text);
  return code;
}
