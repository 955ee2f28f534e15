/** Files that a request names in a project too large to be listed whole. Pure but for the survey. */
import type { Survey } from "../ports.ts";
import { mentionsOf } from "./signals.ts";

const maxMentions = 50;

/** The ends of a path, the longest first: the path below the project's folder is one end of an absolute path. */
function* endsOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    yield text.slice(at);
    const slash = text.indexOf("/", at);
    at = slash < 0 ? text.length : slash + 1;
  }
}

/** Files that are mentioned in a request or its output and are not in `listed`. */
export function findUnlisted(
  { request, output }: { readonly request: string; readonly output: string },
  listed: ReadonlySet<string>,
  survey: Pick<Survey, "find">,
): string[] {
  const texts = [...new Set(mentionsOf(request, output).map(({ text }) => text))].slice(0, maxMentions);
  const found = texts.flatMap((text): string[] => {
    for (const end of endsOf(text)) {
      if (listed.has(end)) return [];
      const path = survey.find?.(end) ?? null;
      if (path !== null) return listed.has(path) ? [] : [path];
    }
    return [];
  });
  return [...new Set(found)];
}
