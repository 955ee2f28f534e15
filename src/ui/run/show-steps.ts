/** Shows what a run will do: its plan, phases, steps and tasks. */

import { wrap } from "../layout.ts";
import { visible, visibleLine } from "../sanitize.ts";
import { renderAmended } from "./render-outcome.ts";
import { renderPlan } from "./render-plan.ts";
import type { ReplyText } from "./reply.ts";
import type { EventHandlers, EventOf } from "./show-work.ts";
import type { Streams } from "./streams.ts";

export interface ShownSteps {
  /** The plan that was shown last; null: none was. */
  readonly ready: EventOf<"plan.ready"> | null;
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
  let ready: EventOf<"plan.ready"> | null = null;

  function showPlan(event: EventOf<"plan.ready">): void {
    const { plan, promise } = event;
    if (plan.intent === "conversation") return;
    reply.show(plan.reply);
    section();
    if (planIsResult) out(renderPlan(plan, promise, outStyle, { ...event, columns: streams.outColumns, verbose }));
    else subject(renderPlan(plan, promise, style, { ...event, columns: streams.columns, verbose }));
    section();
    ready = event;
  }

  return {
    get ready() {
      return ready;
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
