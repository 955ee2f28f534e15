/** Reads the lines of a reply one by one into actions, remarks and warnings: total, streaming, never throws. */

import type { StopReason } from "../model.ts";
import { needsTarget } from "../targets.ts";
import { rowOf } from "../vocabulary.ts";
import { buildAction, buildPartial } from "./body.ts";
import { isFence } from "./code-fence.ts";
import { type Header, readHeader, undecorate } from "./header.ts";
import {
  type BodyEnd,
  dropEnd,
  findFinish,
  growBody,
  isClear,
  keepCut,
  type OpenBody,
  openBody,
  readEnd,
  reopenBody,
} from "./open-body.ts";
import { countOverlap, joinRest, overlapLimit } from "./resume.ts";
import type { Cut, Note, Script, ScriptAction, ScriptOptions, ScriptParser } from "./script.ts";
import { createThoughtFilter } from "./thought.ts";

/** A parser for one reply, fed in chunks of any size; the result does not depend on them. */
export function createScriptParser({ read, resumed = null, tag: defaultTag = "EOT" }: ScriptOptions): ScriptParser {
  const actions: ScriptAction[] = [];
  const remarks: Note[] = [];
  const warnings: Note[] = [];
  const thoughts = createThoughtFilter();
  let tail = "";
  let number = 0;
  let finished = false;
  /** The reply ended by itself, in a body that nobody can tell the end of. */
  let unclosed = false;
  let body: OpenBody | null = resumed === null ? null : reopenBody(resumed);
  /** Number of the last line that became content of a body. */
  let grown = 0;
  /** First lines of a resumed reply, until it is known how they join the cut body. */
  let joint: Joint | null = resumed === null ? null : { lines: [], leading: true };

  function takeLine(raw: string): void {
    number++;
    const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    const outside = joint === null ? body === null : joint.leading;
    const text = outside ? thoughts.skip(line) : line;
    if (text !== null) take(text);
  }

  function take(text: string): void {
    const after = joint !== null || body === null ? thoughts.after(text) : null;
    if (after !== null) forget();
    if (after === "") return;
    if (joint === null) place(after ?? text);
    else join(joint, after ?? text);
  }

  /** What was read so far turned out to be reasoning. */
  function forget(): void {
    finished = false;
    if (joint !== null) joint = { lines: [], leading: true };
    const dropped = actions.length;
    for (const list of [actions, remarks, warnings]) list.length = 0;
    if (dropped > 0) warnings.push({ line: number, text: "what stands before this line was taken for reasoning" });
  }

  function join(start: Joint, text: string): void {
    start.lines.push({ line: number, text });
    if (start.leading && text.trim() !== "" && !isFence(text)) {
      start.leading = false;
      const header = readHeader(undecorate(text));
      if (header !== null) {
        joint = null;
        discard(header);
        begin(header);
        return;
      }
    }
    if (start.lines.length === overlapLimit) settle();
  }

  function settle(): void {
    if (joint === null || body === null) return;
    const { lines } = joint;
    joint = null;
    const last = number;
    for (const note of lines.slice(
      countOverlap(
        body.lines,
        lines.map(({ text }) => text),
      ),
    )) {
      number = note.line;
      place(note.text);
    }
    number = last;
  }

  function place(line: string): void {
    if (body === null) {
      top(line);
      return;
    }
    const end = readEnd(body, line);
    if (end === null) {
      growBody(body, line);
      grown = number;
      return;
    }
    if (end === "implied-end" && body.kept !== null) discard(readHeader(line));
    else close(body, end);
    if (end !== "end") top(line);
  }

  function top(line: string): void {
    if (line.trim() === "" || isFence(line)) return;
    const text = undecorate(line);
    const header =
      readHeader(rowOf(text) !== null && !needsTarget(text) ? `${text}::` : text, defaultTag) ??
      readHeader(raise(text), defaultTag);
    const unknown = /^([A-Z][A-Z0-9_]+)::/.exec(text)?.[1];
    if (finished) remarks.push({ line: number, text: line.trim() });
    else if (header !== null) begin(header);
    else if (unknown !== undefined) warnings.push({ line: number, text: describeUnknown(unknown) });
    else remarks.push({ line: number, text: line.trim() });
  }

  function begin(header: Header): void {
    if (header.kind === "fault") {
      warnings.push({ line: number, text: header.text });
    } else if (header.kind === "action") {
      finished = header.action.cmd === "FINISH";
      actions.push({ ...header.action, line: number });
    } else {
      const { cmd, path, flags, tag } = header;
      body = openBody({ cmd, path, tag: tag ?? defaultTag, line: number, flags }, tag === null);
    }
  }

  function close(open: OpenBody, end: BodyEnd): void {
    const { cmd, path, line } = open;
    body = null;
    dropEnd(open.lines, end);
    if (cmd === "FINISH") finished = true;
    const lines = joinRest(open);
    const flags = [...open.flags, ...(end === "end" ? [] : [end]), ...(lines === open.lines ? [] : ["fence-stripped"])];
    if (cmd !== "FINISH" && path === "") warnings.push({ line, text: `${cmd} needs a path; its body was skipped` });
    else if (end === "no-body")
      warnings.push({ line, text: `${cmd}::${path} has no body: send it with END::${open.tag}` });
    else actions.push(buildAction({ ...open, flags, lines }, read));
  }

  /** Gives up a cut body that the resumed reply does not go on with: half a file is never taken for a whole one. */
  function discard(header: Header | null): void {
    const restarted = header?.kind === "body" && header.path === body?.path;
    if (body !== null && !restarted) {
      warnings.push({ line: number, text: `${body.cmd}::${body.path} was cut and not continued` });
    }
    body = null;
  }

  /** Takes the last line of a reply that ended normally, though without a newline; in an open body it is dropped. */
  function takeTail(): void {
    if (tail !== "") takeLine(tail);
    settle();
    if (body === null || takeFinish(body) || tail === "") return;
    if (grown === number && !body.bare) body.lines.pop();
  }

  /** Ends a body that lacks its END before the FINISH of the reply; where it would have to be guessed, it is not done. */
  function takeFinish(open: OpenBody): boolean {
    const at = findFinish(open);
    const { cmd, path, tag, line, lines } = open;
    const finish = lines[at];
    if (finish === undefined) return false;
    const content = lines.slice(0, at);
    if (isClear(content, tag)) {
      close({ ...open, lines: content }, "implied-end");
      number = line + 1 + at;
      top(finish);
    } else {
      body = null;
      unclosed = true;
      warnings.push({ line, text: `${cmd}::${path} has no END::${tag}: send it again` });
    }
    return true;
  }

  /** Ends the body that is still open after the last line; the cut if that could not be. */
  function endBody(open: OpenBody, stop: StopReason): Cut | null {
    if (stop === "end" && open.bare) close(open, "bare-end");
    else if (stop === "end" && open.wordless && open.blank) close(open, "no-body");
    else if (stop === "end" && open.cmd === "FINISH") closeMessage(open);
    else if (open.cmd === "FINISH" || open.path !== "") actions.push(buildPartial(open, read));
    return body === null || body.path === "" ? null : keepCut(body);
  }

  /** FINISH::WORD that no END::WORD follows: the word was the message. */
  function closeMessage({ tag, line, lines }: OpenBody): void {
    body = null;
    finished = true;
    actions.push({ cmd: "FINISH", arg: tag, next: [], line });
    for (const [at, text] of lines.entries()) {
      if (text.trim() !== "" && !isFence(text)) remarks.push({ line: line + 1 + at, text: text.trim() });
    }
  }

  return {
    push(chunk) {
      const before = actions.length;
      let start = 0;
      for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
        takeLine(tail + chunk.slice(start, end));
        tail = "";
        start = end + 1;
      }
      tail += chunk.slice(start);
      return actions.slice(before);
    },
    end(stop) {
      if (stop === "end") takeTail();
      settle();
      const cut = body === null ? null : endBody(body, stop);
      const whole = stop === "end" && body === null && !unclosed && !thoughts.isOpen();
      const flags = whole && !finished ? ["no-finish"] : [];
      return { actions, remarks, warnings, truncated: stop !== "end" || !finished, flags, cut };
    },
  };
}

interface Joint {
  readonly lines: Note[];
  /** Nothing but blank lines and fences so far. */
  leading: boolean;
}

/** A header in small letters, or with blanks around its colons. Only at top level: in a body it is content. */
function raise(text: string): string {
  return text.replace(/^([A-Za-z_]+)\s*::\s*/, (_, word: string) => `${word.toUpperCase()}::`);
}

function describeUnknown(word: string): string {
  return word === "END" ? "END:: stands where no body is open" : `${word} is not a command`;
}

/** Parses a whole reply, or its chunks. */
export function parseScript(
  stream: string | Iterable<string>,
  { stop, ...options }: ScriptOptions & { readonly stop: StopReason },
): Script {
  const parser = createScriptParser(options);
  for (const chunk of typeof stream === "string" ? [stream] : stream) parser.push(chunk);
  return parser.end(stop);
}
