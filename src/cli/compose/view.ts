/** The face of a run: terminal lines, a JSON document or JSON lines; and who answers its questions; diffs and questions outside of a run. */

import type { Change } from "../../core/change.ts";
import { grantsRun } from "../../core/command/run-patterns.ts";
import { PaiError } from "../../core/error.ts";
import type { StampedEvent } from "../../core/event.ts";
import { pathWithin } from "../../core/path.ts";
import type { Decide, Decision, Question } from "../../core/question.ts";
import { renderHidden } from "../../core/secrets/veil.ts";
import { renderDiff } from "../../ui/diff/render-diff.ts";
import type { Highlight } from "../../ui/highlight.ts";
import { createJsonl } from "../../ui/json.ts";
import type { Prompter } from "../../ui/prompt/prompt.ts";
import type { TypedAhead } from "../../ui/run/spinner.ts";
import { createTerminal, type Terminal, type TerminalOptions } from "../../ui/run/terminal.ts";
import { chooseStyle, type Style } from "../../ui/style.ts";
import { columnsOf, openLog } from "../answer-document.ts";
import type { Context } from "../command.ts";
import { type Base, findRoot, knownSecrets } from "./base.ts";
import type { Face } from "./compose-model.ts";

export interface TerminalView extends Face {
  readonly sink: (event: StampedEvent) => void;
  readonly finish: Terminal["finish"];
  typed: () => TypedAhead;
  readonly refresh: () => void;
  readonly decide: Decide;
  /** What answers `a` (always) have allowed in the session. */
  readonly allowing: Omit<ReturnType<typeof decideByAsking>, "decide">;
  readonly style: Style;
  readonly interactive: boolean;
  readonly prompter: () => Promise<Prompter>;
}

/** Whether a person can be asked, at a terminal and without -y, --no-input, --json and --jsonl. */
export function isInteractive({ flags, tty }: Context): boolean {
  const isOff = [flags.yes, flags.noInput, flags.json, flags.jsonl].includes(true);
  return tty.keyboard && tty.stderr && !isOff;
}

/** Opens the editor for questions and messages, which takes the terminal, at the first call. */
export function openPrompter(context: Context, signal: AbortSignal): () => Promise<Prompter> {
  let opened: Promise<Prompter> | null = null;
  return () => {
    opened ??= import("../../ui/prompt/prompt.ts").then(({ createPrompter }) =>
      createPrompter({
        isStdinKeyboard: context.tty.stdin,
        err: context.err,
        style: styleOf(context, context.tty.stderr),
        size: () => ({ columns: columnsOf(context.env), rows: process.stderr.rows || 24 }),
        kitty: /kitty|ghostty|foot|alacritty|wezterm/.test(context.env["TERM"] ?? ""),
        signal,
      }),
    );
    return opened;
  };
}

/** The highlighter of code, which is large and only for colours. */
export const loadHighlight = async (): Promise<Highlight> => (await import("../../ui/highlight.ts")).highlight;

export function styleOf({ env, flags }: Context, tty: boolean): Style {
  return chooseStyle({ tty, env, plain: flags.plain === true });
}

/** Writes events as JSON lines. Earlier notices follow the run's first event, which begins every stream. */
async function openLines({ out, notices, now }: Context): Promise<(event: StampedEvent) => void> {
  const write = createJsonl(out);
  let hasBegun = false;
  return (event) => {
    write(event);
    if (hasBegun) return;
    hasBegun = true;
    notices.follow((notice) => write({ type: "notice", ...notice, run: event.run, seq: 1, at: now().toISOString() }));
  };
}

/** Chooses the face by flags and streams. `signal` aborts every question. */
export async function openView(context: Context, signal: AbortSignal, kind: TerminalOptions["kind"]) {
  const { flags, tty, out, err } = context;
  const machine = flags.json === true || flags.jsonl === true || flags.outputSchema !== undefined;
  const style = styleOf(context, tty.stderr);
  const quiet = flags.quiet === true;
  let highlight: Highlight | null = null;
  const terminal = createTerminal({
    typed: () => face.typed(),
    out: machine ? () => {} : out,
    err,
    style,
    outStyle: styleOf(context, tty.stdout),
    columns: () => (tty.stderr ? columnsOf(context.env) : 100),
    verbose: flags.verbose === true,
    quiet,
    live: tty.stderr && !style.plain && !quiet,
    screen: tty.stdout && tty.stderr && !machine,
    // Where nobody can say yes, the run ends with its plan.
    kind: kind === "run" && !isInteractive(context) && flags.yes !== true ? "plan" : kind,
    highlight: () => highlight,
    asks: isInteractive(context),
    now: () => performance.now(),
  });
  const interactive = isInteractive(context);
  const prompter = openPrompter(context, signal);
  const asking = decideByAsking(prompter);
  const decide: Decide = interactive
    ? (question) => {
        terminal.pause();
        return asking.decide(question).finally(terminal.resume);
      }
    : decideByPolicy(flags.yes === true);
  const writeLine = flags.jsonl === true ? await openLines(context) : null;
  const face: TerminalView = {
    typed: () => ({ queued: [], typing: "" }),
    refresh: terminal.refresh,
    sink: (event) => {
      terminal.sink(event);
      if (style.color && (event.type === "model.started" || event.type === "plan.ready"))
        // While the model is at work, so that nobody waits for it.
        void loadHighlight().then((loaded) => {
          highlight = loaded;
        });
      writeLine?.(event);
      // The log adds those outside the run.
      if (flags.json === true && event.type === "notice")
        context.notices.add({ level: event.level, code: event.code, text: event.text });
    },
    // With --json and --jsonl the document contains the result, so it is not printed as text too.
    finish: (outcome, undoFlags) =>
      terminal.finish(machine && outcome.ok ? { ...outcome, text: "" } : outcome, undoFlags),
    notify: openLog(context).notify,
    decide,
    confirm: interactive ? async (text) => (await decide({ kind: "command", text })).accept : null,
    allowing: asking,
    style,
    interactive,
    prompter,
  };
  return face;
}

/** Without a terminal: `-y` approves plans, amendments and batches without a plan; it never widens budget or policy. */
export function decideByPolicy(yes: boolean): Decide {
  return async ({ kind }) =>
    yes && ["plan", "amend", "batch"].includes(kind)
      ? { accept: true, by: "policy", reason: "-y" }
      : { accept: false, by: "policy", reason: "nobody can be asked", feedback: null };
}

interface Allowed {
  readonly kind: "folder" | "command" | "pattern";
  readonly what: string;
}

/** Asks the user, one question at a time. An `a` to a batch also answers later ones below the same folder. */
export function decideByAsking(prompter: () => Promise<Prompter>) {
  let allowed: readonly Allowed[] = [];

  /** What an `a` to this question allows; none: it takes no `a`. */
  const subjectsOf = ({ commands = [], isConfined, folder = null }: Question): readonly Allowed[] =>
    isConfined === true
      ? commands.map((what) => ({ kind: "command", what }))
      : folder === null
        ? []
        : [{ kind: "folder", what: folder }];

  const covers = ({ kind, what }: Allowed, subject: Allowed) =>
    subject.kind === "folder"
      ? kind === "folder" && (what === "" || pathWithin(subject.what, what) !== null)
      : (kind === "command" && what === subject.what) || (kind === "pattern" && grantsRun([what], subject.what));

  async function decide(question: Question): Promise<Decision> {
    const subjects = subjectsOf(question);
    const isCovered = (subject: Allowed) => allowed.some((each) => covers(each, subject));
    if (subjects.length > 0 && subjects.every(isCovered))
      return { accept: true, by: "user", reason: "allowed earlier in this session" };
    const answer = await (await prompter()).ask(question);
    if (answer === "always") {
      allowed = [...allowed, ...subjects.filter((subject) => !isCovered(subject))];
      return { accept: true, by: "user", reason: "yes, from now on" };
    }
    if (answer === "yes") return { accept: true, by: "user", reason: "yes" };
    if (answer === "review") return { accept: true, by: "user", reason: "yes, after the diff", review: true };
    if (answer === "no") return { accept: false, by: "user", reason: "no", feedback: null };
    return { accept: false, by: "user", reason: "feedback", feedback: answer.feedback };
  }

  return {
    decide,
    allowed: () => allowed,
    allowPattern(pattern: string) {
      allowed = [...allowed, { kind: "pattern", what: pattern }];
    },
    drop(at: number) {
      allowed = allowed.filter((_, index) => index !== at);
    },
    forget() {
      allowed = [];
    },
  };
}

/** Whether -y gave the approval; else a person is asked. Throws approval_needed if nobody can be; `line` gives it. */
export function isApproved(
  context: Context,
  { needs, line }: { readonly needs: string; readonly line: string },
): boolean {
  if (context.flags.yes === true) return true;
  if (!isInteractive(context)) throw new PaiError("approval_needed", needs, { hint: line });
  return false;
}

export async function askYes(context: Context, text: string, declined = "nothing was changed"): Promise<void> {
  const prompter = await openPrompter(context, context.signal)();
  if ((await prompter.ask({ kind: "changes", text })) !== "yes") throw new PaiError("declined", declined);
}

/** `renderHidden` with the keys of pai, and what the environment and the `.env` files of the project tell of. */
export const renderHiddenHere = (base: Base, changes: readonly Change[]): string =>
  renderHidden(changes, knownSecrets(base, findRoot(base.context)));

export async function styleDiffOn(stream: "stdout" | "stderr", context: Context, diff: string): Promise<string> {
  const style = styleOf(context, context.tty[stream]);
  const highlight = style.color ? await loadHighlight() : null;
  const columns = style.plain ? null : columnsOf(context.env);
  return renderDiff(diff, style, { columns, highlight });
}

export const renderDiffOn = async (
  stream: "stdout" | "stderr",
  base: Base,
  changes: readonly Change[],
): Promise<string> => (changes.length === 0 ? "" : styleDiffOn(stream, base.context, renderHiddenHere(base, changes)));
