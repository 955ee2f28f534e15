/** Shows what a run will do: its plan, phases, steps and tasks. */

import type { Permitted } from "../../core/command/run-patterns.ts";
import type { Promised } from "../../core/outcome.ts";
import type { Concern } from "../../core/question.ts";
import { wrap } from "../layout.ts";
import { visible, visibleLine } from "../sanitize.ts";
import { renderAmended } from "./render-outcome.ts";
import { renderPlan } from "./render-plan.ts";
import type { ReplyText } from "./reply.ts";
import type { EventHandlers, EventOf } from "./show-work.ts";
import type { Streams } from "./streams.ts";

export interface ShownSteps {
  /** Promise of the shown plan; null: none was shown. */
  readonly promise: Promised | null;
  /** Commands of the plan that patterns permit. */
  readonly permitted: readonly Permitted[] | undefined;
  /** Paths of the plan whose change needs a yes of its own. */
  readonly concerns: readonly Concern[] | undefined;
  readonly handlers: EventHandlers<
    "plan.ready" | "plan.amended" | "memory.kept" | "phase.started" | "step.started" | "tasks.updated"
  >;
}

const marks = { pending: " ", in_progress: "~", completed: "x" } as const;

/** `planIsResult`: the plan is printed to standard output. */
export function openSteps(
  streams: Streams,
  reply: ReplyText,
  { planIsResult, verbose }: { readonly planIsResult: boolean; readonly verbose: boolean },
): ShownSteps {
  const { out, subject, say, aside, section, style, outStyle } = streams;
  let promised: Promised | null = null;
  let allowed: readonly Permitted[] | undefined;
  let asked: readonly Concern[] | undefined;

  function showPlan({ plan, promise, permitted, concerns }: EventOf<"plan.ready">): void {
    if (plan.intent === "conversation") return;
    reply.show(plan.reply);
    section();
    if (planIsResult)
      out(renderPlan(plan, promise, outStyle, { columns: streams.outColumns, verbose, permitted, concerns }));
    else subject(renderPlan(plan, promise, style, { columns: streams.columns, verbose, permitted, concerns }));
    section();
    promised = promise;
    allowed = permitted;
    asked = concerns;
  }

  return {
    get promise() {
      return promised;
    },
    get permitted() {
      return allowed;
    },
    get concerns() {
      return asked;
    },
    handlers: {
      "plan.ready": showPlan,
      "plan.amended"(amendment) {
        if (amendment.accept) say(renderAmended([amendment], style, streams.columns));
      },
      "memory.kept"({ facts }) {
        section();
        for (const { id, text, pending } of facts) {
          const how = pending
            ? `proposed, kept with: pai memory accept ${id}`
            : `remembered, dropped with: pai memory drop ${id}`;
          say(wrap(`${visibleLine(text)}  (${how})`, streams.columns));
        }
      },
      "phase.started"({ phase, of }) {
        reply.show();
        section();
        if (phase > 1) aside(`phase ${phase} of ${of}`);
      },
      "step.started"({ step, of, title, text }) {
        section();
        aside(`step ${step}/${of}  ${visibleLine(title)}`);
        if (text !== "") say(wrap(visible(text), streams.columns));
      },
      "tasks.updated"({ tasks }) {
        say(tasks.map(({ status, content }) => `[${marks[status]}] ${visibleLine(content)}`));
      },
    },
  };
}
