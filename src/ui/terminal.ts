/** Shows a run to a person, line by line and in the order of spec 1.3; where each line goes is spec 6.3. */
import type { Promised, StampedEvent } from "../core/event.ts";
import type { Purpose } from "../core/model.ts";
import type { Outcome } from "../core/outcome.ts";
import { maskSecrets } from "../core/secret.ts";
import { counted, grouped, spent } from "./amount.ts";
import { renderDiff } from "./diff.ts";
import type { Highlight } from "./highlight.ts";
import { hang, wrap } from "./layout.ts";
import { renderLook } from "./look.ts";
import { renderChanges, renderCheck, renderFailure, renderFooter, renderResult, withoutMoved } from "./outcome.ts";
import { renderPlan } from "./plan.ts";
import { openReply, renderAnswer } from "./reply.ts";
import { visible, visibleLine } from "./sanitize.ts";
import { createSpinner } from "./spinner.ts";
import { type Meaning, mark, type Style } from "./style.ts";

export interface TerminalOptions {
  /** Results: standard output. */
  readonly out: (text: string) => void;
  /** Everything else: standard error. */
  readonly err: (text: string) => void;
  /** Style of standard error. */
  readonly style: Style;
  /** Style of standard output, which may be a pipe while standard error is a terminal. */
  readonly outStyle: Style;
  readonly columns: number;
  readonly verbose: boolean;
  /** Only errors on standard error. */
  readonly quiet: boolean;
  /** May redraw a spinner line on standard error. */
  readonly live: boolean;
  /** Both streams are the same terminal: replies stream, and nothing is shown twice. */
  readonly screen: boolean;
  /** The plan is the result (`pai plan`): it goes to standard output. */
  readonly planIsResult: boolean;
  /** Colours for code, once they are loaded. */
  readonly highlight?: () => Highlight | null;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
}

export interface Terminal {
  readonly sink: (event: StampedEvent) => void;
  /** A question is about to be asked: nothing may be drawn meanwhile. */
  readonly pause: () => void;
  /**
   * Prints the result of the run that was shown; the terminal is then ready for the next run.
   * `undoable`: what was changed can be taken back later; assumed when not said.
   */
  readonly finish: (outcome: Outcome, undoable?: boolean) => void;
}

const waits: Readonly<Record<Purpose, string>> = {
  plan: "planning",
  replan: "planning again",
  repair: "asking for a readable plan",
  execute: "working",
  resume: "asking for the rest of the reply",
  integrity: "judging the work",
  heal: "mending",
  summary: "summing up",
  turn: "thinking",
  explore: "exploring",
  compact: "shortening the conversation",
};

const outputTail = 10;
const unfolded = 4;

type EventOf<T extends StampedEvent["type"]> = Extract<StampedEvent, { readonly type: T }>;
type Shows = { readonly [T in StampedEvent["type"]]: (event: EventOf<T>) => void };

interface Shown {
  /** The promise of the plan that was shown; null: no plan was. */
  promise: Promised | null;
  /** Batches that are in the workspace now. */
  readonly applied: Set<number>;
  /** The changes were taken back. */
  undone: boolean;
  /** What a look found, not printed yet. */
  looked: string;
  /** The last characters that were printed. */
  tail: string;
  /** A blank line comes before whatever is printed next. */
  gap: boolean;
}

const nothing = (): Shown => ({ promise: null, applied: new Set(), undone: false, looked: "", tail: "", gap: false });

export function createTerminal(options: TerminalOptions): Terminal {
  const { style, outStyle, quiet, verbose, screen } = options;
  const columns = style.plain ? null : options.columns;
  const outColumns = outStyle.plain ? null : options.columns;
  const err = (text: string) => {
    if (quiet || text === "") return;
    openGap(options.err);
    options.err(text);
    shown.tail = (shown.tail + text).slice(-2);
  };
  const out = (text: string) => {
    if (text === "") return;
    if (screen) openGap(options.out);
    options.out(text);
    if (screen) shown.tail = (shown.tail + text).slice(-2);
  };
  let shown = nothing();
  const spinner = createSpinner({ ...options, err: quiet ? () => {} : options.err });
  const code = () => options.highlight?.() ?? null;
  const markdownOn = (target: Style, width: number | null) =>
    width === null ? null : { columns: width, style: target, highlight: code };
  const markdown = () => markdownOn(style, columns);
  const reply = openReply({ write: err, begin: section, columns, markdown, streams: screen && !quiet });

  const say = (lines: readonly string[]) => err(lines.map((line) => `${line}\n`).join(""));
  const line = (meaning: Meaning, text: string) => say(hang(`${mark(style, meaning)} `, text, columns));
  const dim = (text: string) => wrap(text, columns).map((part) => style.paint("dim", part));

  /** One blank line before what begins something new, but not at the top of the screen. */
  function section(): void {
    shown.gap = true;
  }

  function openGap(write: (text: string) => void): void {
    if (shown.gap && shown.tail !== "" && shown.tail !== "\n\n") write("\n");
    shown.gap = false;
  }

  function showPlan({ plan, promise }: EventOf<"plan.ready">): void {
    if (plan.intent === "conversation") return;
    reply.show(plan.reply);
    section();
    if (options.planIsResult) out(renderPlan(plan, promise, outStyle, outColumns));
    else err(renderPlan(plan, promise, style, columns));
    section();
    shown.promise = promise;
  }

  function showProposed({ diff, changes }: EventOf<"changes.proposed">): void {
    section();
    if (diff === "") say(renderChanges(changes, style));
    else err(renderDiff(maskSecrets(diff), style, { fold: unfolded, highlight: code() }));
    section();
  }

  function wait(what: string): void {
    if (options.live) spinner.start(what);
    else say(dim(`${visibleLine(what)} ${style.glyphs.more}`));
  }

  function showCheck(event: EventOf<"check.finished">): void {
    if (event.when === "before") {
      if (verbose || event.passed === false)
        say(dim(`before the change: ${visibleLine(event.command)}, exit ${event.exit ?? "none"}`));
      return;
    }
    say(renderCheck(event, style, columns));
    if (event.passed === false && event.output.trim() !== "") showTail(event.output);
  }

  function showApplied(event: EventOf<"changes.applied" | "changes.rolled_back">): void {
    const changes = counted(withoutMoved(event.changes).length, "change");
    if (event.type === "changes.applied") {
      shown.applied.add(event.batch);
      if (event.changes.length > 0) line("ok", `applied ${changes}`);
    } else {
      shown.applied.clear();
      shown.undone = event.changes.length > 0;
      if (shown.undone) line("warn", `rolled back ${changes}`);
    }
  }

  /** The last lines of what a command or an action had to say. */
  function showTail(output: string): void {
    const bar = style.paint("dim", `  ${style.glyphs.bar}`);
    const lines = visible(output).trimEnd().split("\n").slice(-outputTail);
    say(lines.map((text) => `${bar} ${text}`.trimEnd()));
  }

  function showCall({ ok, action, target, text }: EventOf<"call.finished">): void {
    if (action === "FINISH" && ok) return;
    const [first = "", ...rest] = text.replace(`$ ${target}\n`, "").trim().split("\n");
    const note = first === "" ? "" : `  ${visibleLine(first)}`;
    const done: Meaning = text.startsWith("not run") ? "dim" : "ok";
    line(ok ? done : "error", `${action} ${visibleLine(target)}${ok ? style.paint("dim", note) : note}`.trimEnd());
    if (rest.length > 0) showTail(rest.join("\n"));
  }

  /** What a look found stands under the line of its call, which may come after it. */
  function showLooked(): void {
    err(shown.looked);
    shown.looked = "";
  }

  const shows: Shows = {
    "run.started"(event) {
      if (verbose) say(dim(`run ${event.run}, ${event.mode}, ${visibleLine(event.model)}, ${visibleLine(event.root)}`));
    },
    "model.started": (event) => wait(`${waits[event.purpose]} with ${event.model}`),
    "model.finished"(event) {
      spinner.stop();
      const tokens = `${grouped(event.usage.input)} in, ${grouped(event.usage.output)} out`;
      if (verbose) say(dim(`call ${event.n}: ${visibleLine(event.served)}, ${tokens}, ${spent(event.ms)}`));
    },
    "model.delta"({ channel, text }) {
      if (channel === "reply") reply.push(text);
    },
    "plan.ready": showPlan,
    "phase.started"(event) {
      reply.show();
      section();
      if (event.phase > 1) say(dim(`phase ${event.phase} of ${event.of}`));
    },
    "step.started"(event) {
      section();
      say(dim(`step ${event.step}/${event.of}  ${visibleLine(event.title)}`));
      if (event.text !== "") say(wrap(visible(event.text), columns));
    },
    "call.started"(event) {
      reply.show();
      if (event.action === "RUN") wait(`RUN ${event.target}`);
    },
    "call.finished": showCall,
    "look.shown"(event) {
      shown.looked = renderLook({ ...event, text: maskSecrets(event.text) }, style, code());
    },
    "changes.proposed": showProposed,
    "changes.decided"(event) {
      if (!event.accept) line("warn", `not applied: refused by ${event.by}`);
    },
    "changes.applied": showApplied,
    "changes.rolled_back": showApplied,
    "check.finished": showCheck,
    notice: (event) => line(event.level === "warning" ? "warn" : "dim", visible(event.text)),
    "budget.updated": () => {},
    "message.added": () => {},
    "context.sent": () => {},
    "conversation.replaced": () => {},
    "tasks.updated"(event) {
      const marks = { pending: " ", in_progress: "~", completed: "x" } as const;
      say(event.tasks.map(({ status, content }) => `[${marks[status]}] ${visibleLine(content)}`));
    },
    "run.finished": () => spinner.stop(),
  };

  function show<T extends keyof Shows>(type: T, event: EventOf<T>): void {
    shows[type](event);
  }

  /** The message: a result, or, of a run that failed, only what the model claims. True when standard output holds it. */
  function showMessage({ ok, text }: Outcome): boolean {
    if (text === "" || reply.shown === text) return false;
    if (ok) out(renderAnswer(text, outColumns, markdownOn(outStyle, outColumns)));
    else say(wrap(visible(`The model said: ${text}`), columns));
    return ok;
  }

  /** Printed to standard output after the message, with the footer between result and undo. */
  function showResult(outcome: Outcome, undoable: boolean): void {
    const applied = shown.applied.size > 0;
    section();
    const told = showMessage(outcome);
    section();
    const result = renderResult(outcome, { style: outStyle, columns: outColumns, applied, screen: screen && !quiet });
    out(!screen && result !== "" && told ? `\n${result}` : result);
    section();
    if (outcome.calls.made > 0) say(dim(renderFooter(outcome)));
    if (!undoable || outcome.run === null) return;
    if (applied) out("undo with: pai undo\n");
    else if (shown.undone) out(`bring its changes back with: pai redo ${outcome.run}\n`);
  }

  return {
    sink(event) {
      spinner.clear();
      if (event.type !== "model.delta") reply.close();
      if (event.type !== "call.finished") showLooked();
      show(event.type, event);
      if (event.type === "call.finished") showLooked();
      if (!reply.open) spinner.resume();
    },
    pause() {
      spinner.stop();
      reply.close();
    },
    finish(outcome, undoable = true) {
      spinner.stop();
      reply.close();
      showLooked();
      const again = outcome.code === 10 && !options.planIsResult && !screen;
      if (again && outcome.plan !== null && shown.promise !== null) {
        out(renderPlan(outcome.plan, shown.promise, outStyle, outColumns));
      }
      showResult(outcome, undoable);
      if (outcome.error !== null) options.err(renderFailure(outcome.error, style, columns));
      reply.reset();
      shown = nothing();
    },
  };
}
