/** The message of a commit that pai makes: a short first line, the rest as it was written, and the run. Pure. */

const maxSubject = 72;

/** Removes control characters, which could act on a terminal that shows the log. */
const clean = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{C}\n\t]/gu, "")
    .replace(/[ \t]+$/gm, "")
    .trim();

/** Cuts a long line at a blank; the body then begins with the whole line. */
function splitSubject(line: string): readonly [subject: string, body: string] {
  if (line.length <= maxSubject) return [line, ""];
  const space = line.lastIndexOf(" ", maxSubject - 1);
  const at = space > maxSubject / 2 ? space : maxSubject - 1;
  return [`${line.slice(0, at)}…`, line];
}

/**
 * The message for run `run`, made from the run's closing `text`, or from its task when that is empty. `own`: the user's
 * message, which is used as it is; null: none.
 */
export function commitMessage(
  run: string,
  { text, task, own }: { readonly text: string; readonly task: string; readonly own: string | null },
): string {
  const trailer = `\n\nPai-Run: ${run}\n`;
  if (own !== null) return own.trim() + trailer;
  const [first = "", ...rest] = (clean(text) || clean(task) || "work of pai").split("\n");
  const [subject, cut] = splitSubject(first.replace(/^#+ +/, ""));
  const body = [cut, rest.join("\n").trim()].filter((part) => part !== "").join("\n\n");
  return `${subject}${body === "" ? "" : `\n\n${body}`}${trailer}`;
}
