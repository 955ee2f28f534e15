/** Files the person named in the request with `@`: shown whole, ignored ones too. What the policy denies is never read. */
import { PaiError } from "../core/error.ts";
import { noteHidden } from "./hidden.ts";
import type { Run } from "./run.ts";
import { readSource, type Source } from "./sent.ts";

/** Throws file_unusable for what is no text; the run ends before any call. */
export async function readMentioned(run: Run): Promise<readonly Source[]> {
  const sources = await Promise.all(
    (run.task.files ?? []).map(async (path) => {
      const source = await readSource(run, path);
      if (source === null) throw new PaiError("file_unusable", `@${path} is no text that can be shown`);
      return source;
    }),
  );
  for (const { path, shown } of sources) noteHidden(run, path, shown);
  return sources;
}
