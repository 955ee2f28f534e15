/** Shows what a run does: its calls with their results, what they found, its changes, its checks. */

import type { StampedEvent } from "../../core/event.ts";
import { isQuestion } from "../../core/script/prose.ts";
import { rowOf } from "../../core/vocabulary.ts";
import { counted, grouped, renderDuration } from "../amount.ts";
import { renderDiff } from "../diff/render-diff.ts";
import type { Highlight } from "../highlight.ts";
import { expandTabs, refit, wrapCode } from "../layout.ts";
import { visible, visibleLine } from "../sanitize.ts";
import type { Meaning, Style } from "../style.ts";
import { listChanges, renderCheck, renderSummaries } from "./render-outcome.ts";
import type { ReplyText } from "./reply.ts";
import type { Streams } from "./streams.ts";

const numbered = /^ *(\d+)(?: (.*))?$/;
const headLines = 30;
const tailLines = 5;
/** Lines shown of a tree or search result before it is folded. */
const maxLines = 40;
/** Lines shown of the output of a command: its end says how it went. */
const command = { head: 10, tail: 30 };
const minHidden = 10;
const longestLine = 400;
/** Columns around a line number: two before it, a bar between blanks after it. */
const gutter = 5;

interface LookOptions {
  readonly style: Style;
  readonly columns: number | null;
  readonly highlight: Highlight | null;
  readonly whole: boolean;
  readonly allOutput: string | undefined;
}

function cutLine(text: string, more: string): string {
  const left = text.length - longestLine;
  return expandTabs(left > 0 ? `${text.slice(0, longestLine)}${more} ${grouped(left)} more characters` : text);
}

function renderFile(text: string, name: string, { style, columns, highlight, whole }: LookOptions): string[] {
  const { bar, more } = style.glyphs;
  const rows = text.split("\n").map((line) => {
    const match = numbered.exec(line);
    return match ? { number: match[1] ?? "", text: match[2] ?? "" } : { number: "", text: line };
  });
  const digits = rows.reduce((longest, row) => Math.max(longest, row.number.length), 3);
  const room = columns === null ? null : columns - digits - gutter;
  const draw = (part: typeof rows) => {
    const code = part.map((row) => cutLine(row.text, more)).join("\n");
    const painted = (style.color && highlight?.(name)?.(code)) || code;
    return painted.split("\n").flatMap((line, at) =>
      wrapCode(line, room).map((piece, n) => {
        const number = (n === 0 ? (part[at]?.number ?? "") : "").padStart(digits);
        return `  ${style.paint("dim", `${number} ${bar}`)} ${piece}`.trimEnd();
      }),
    );
  };
  const hidden = rows.length - headLines - tailLines;
  if (whole || hidden < minHidden) return draw(rows);
  const note = `  ${more.padStart(digits)}   ${counted(hidden, "more line")} (${wayToAll})`;
  return [...draw(rows.slice(0, headLines)), style.paint("dim", note), ...draw(rows.slice(-tailLines))];
}

const branches = /^(?:│ {3}| {4})*(?:├── |└── )/gm;

/** A terminal without such characters gets indentation in the place of branches. */
function drawn(text: string, { glyphs }: Style): string {
  if (glyphs.bar === "│") return text;
  return text.replace(branches, (branch) => " ".repeat(branch.length - 2));
}

const wayToAll = "-v shows all";

function foldLook(lines: readonly string[], isCommand: boolean, options: LookOptions): readonly string[] {
  const hidden = lines.length - maxLines;
  if (options.whole || hidden < minHidden) return lines;
  const way = isCommand ? (options.allOutput ?? wayToAll) : wayToAll;
  const note = `${options.style.glyphs.more} ${counted(hidden, "more line")} (${way})`;
  const { head, tail } = isCommand ? command : { head: maxLines, tail: 0 };
  return [...lines.slice(0, head), note, ...lines.slice(lines.length - tail)];
}

/** Renders a look, folded if it is long. Ends in a line feed; "" if nothing was found. */
function renderLook({ action, target, text }: EventOf<"look.shown">, options: LookOptions): string {
  const { style, columns } = options;
  const row = rowOf(action);
  const shown = visible(text).replace(/\n+$/, "");
  if (shown === "") return "";
  if (row?.form === "lines") return `${renderFile(shown, target.split(" ")[0] ?? "", options).join("\n")}\n`;
  const isCommand = row?.kind === "command";
  const room = columns && columns - 2;
  return foldLook(drawn(shown, style).split("\n"), isCommand, options)
    .map((line) => cutLine(line, style.glyphs.more))
    .flatMap((line) => (isCommand ? wrapCode(line, room) : refit(line, room).split("\n")))
    .map((line) => `  ${line}\n`)
    .join("");
}

const outputTail = 10;
const maxRows = 20;

function sayLook({ action, target, text }: EventOf<"look.shown">): string {
  const seen = ["", "."].includes(target) ? "the project" : visibleLine(target);
  const [first = "", ...rest] = text.trim().split("\n");
  const found = rest.length > 0 ? `, ${counted(rest.length + 1, "line")}` : `: ${visibleLine(first) || "nothing"}`;
  return `${rowOf(action)?.form === "pattern" ? "searched" : "looked at"} ${seen}${found}`;
}

function meaningOf(ok: boolean, text: string, first: string): Meaning {
  if (!ok) return "error";
  if (text.startsWith("not run")) return "dim";
  return /^exit [1-9]/.test(first) ? "warn" : "ok";
}

/** What a call says, without the command that its line names. */
const linesOfCall = (target: string, text: string): readonly string[] =>
  text
    .replace(`$ ${target}\n`, "")
    .replace(/^(\w[\w ]*) after (\d+) ms/, (_, end, ms) => `${end}, ${renderDuration(Number(ms))}`)
    .trim()
    .split("\n");

/** Actions without a line: the message and the list of tasks show their result. */
const quiet = new Set(["FINISH", "check", "write_tasks", "update_task", "read_tasks"]);

interface WorkOptions {
  readonly verbose: boolean;
  readonly reply: ReplyText;
  readonly wait: (what: string) => void;
  readonly stopWaiting: () => void;
  readonly highlight: () => Highlight | null;
  readonly asks: boolean;
  /** Names the command that shows the rest of a long file; undefined: nothing is folded. */
  readonly fold: ((path: string) => string) | undefined;
  /** How to see all of an output, if not by -v; a look is then one line. */
  readonly allOutput: string | undefined;
}

export function openWork(streams: Streams, options: WorkOptions) {
  const { verbose, reply, wait, stopWaiting, highlight, asks, fold, allOutput } = options;
  const { style, err, subject, say, line, aside, section } = streams;
  const applied = new Set<number>();
  let undone = false;
  let looked = "";
  /** The line of a look, in place of that of its call; null: none. */
  let lookLine: string | null = null;

  /** Shows the result of the last look, if the line of its call has not come. */
  function showLooked(): void {
    if (lookLine !== null) line("ok", lookLine);
    lookLine = null;
    err(looked);
    looked = "";
  }

  function showTail(output: string): void {
    const bar = style.paint("dim", `  ${style.glyphs.bar}`);
    const { columns } = streams;
    const room = columns === null ? null : columns - Bun.stringWidth(bar) - 1;
    const lines = visible(output).trimEnd().split("\n").slice(-outputTail);
    const rows = lines.flatMap((text) => wrapCode(text, room)).slice(-maxRows);
    say(rows.map((text) => `${bar} ${text}`.trimEnd()));
  }

  function showCall({ ok, action, target, text }: EventOf<"call.finished">): void {
    if (ok && quiet.has(action)) return;
    const [first = "", ...rest] = linesOfCall(target, text);
    const note = first === "" ? "" : `  ${visibleLine(first)}`;
    const called = `${action} ${visibleLine(target)}`.trimEnd();
    line(meaningOf(ok, text, first), called + (ok ? style.paint("dim", note) : note));
    // Below the reason stands what the model is to do.
    const isForModel = !ok && rowOf(action)?.kind === "change";
    if (rest.length > 0 && (verbose || !isForModel)) showTail(rest.join("\n"));
  }

  function showProposed({ diff, changes, asked, seen }: EventOf<"changes.proposed">): void {
    if (seen === true) return;
    section();
    const whole = asks && asked === true;
    const listed = diff === "" ? renderSummaries(changes, style).map((change) => `${change}\n`) : [];
    const shown = renderDiff(diff, style, { columns: streams.columns, highlight: highlight(), whole, fold });
    subject(listed.join("") + shown);
    section();
  }

  function showCheck(event: EventOf<"check.finished">): void {
    stopWaiting();
    if (event.when === "before") {
      const ended = `${visibleLine(event.command)}, exit ${event.exit ?? "none"}, ${renderDuration(event.ms)}`;
      if (verbose || event.passed === false) aside(`before the change: ${ended}`);
      return;
    }
    say(renderCheck(event, streams));
    if (event.note !== "" && event.passed !== null) aside(`  ${visibleLine(event.note)}`);
    if (event.passed === false && event.output.trim() !== "") showTail(event.output);
  }

  const counts = ({ changes }: EventOf<"changes.applied" | "changes.rolled_back">) =>
    counted(listChanges(changes).length, "change");

  return {
    /** Whether the run's changes are in the workspace now. */
    get applied() {
      return applied.size > 0;
    },
    get undone() {
      return undone;
    },
    showLooked,
    handlers: {
      "call.started"({ action, target }) {
        reply.show();
        if (rowOf(action)?.kind === "command") wait(`${action} ${target}`.trimEnd());
      },
      "call.finished"(event) {
        if (!event.ok || lookLine === null) showCall(event);
        showLooked();
      },
      "look.shown"(event) {
        if (allOutput !== undefined && !verbose && rowOf(event.action)?.kind !== "command") {
          lookLine = sayLook(event);
          return;
        }
        const looks = { style, columns: streams.columns, highlight: highlight(), whole: verbose, allOutput };
        looked = renderLook(event, looks);
      },
      "changes.proposed": showProposed,
      "changes.decided"({ accept, by, words }) {
        subject("");
        const ofWords = (said: string) => (isQuestion(said) ? "you asked about it" : "you want it otherwise");
        const ofUser = words === undefined ? "you said no" : ofWords(words);
        const why = by === "user" ? ofUser : "nobody said yes";
        if (!accept) line("warn", `not applied: ${why}`);
      },
      "changes.applied"(event) {
        applied.add(event.batch);
        if (event.changes.length > 0) line("ok", `applied ${counts(event)}`);
      },
      "changes.rolled_back"(event) {
        applied.clear();
        undone = event.changes.length > 0;
        if (undone) line("warn", `rolled back ${counts(event)}`);
      },
      "check.finished": showCheck,
    } satisfies Partial<EventHandlers>,
  };
}

export type EventOf<T extends StampedEvent["type"]> = Extract<StampedEvent, { readonly type: T }>;

/** How each event is shown; null: it is not. */
export type EventHandlers<T extends StampedEvent["type"] = StampedEvent["type"]> = {
  readonly [Type in T]: ((event: EventOf<Type>) => void) | null;
};
