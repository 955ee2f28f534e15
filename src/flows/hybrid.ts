/** `--mode auto`: the plan's complexity chooses the way of working, and it is said which (spec 6.12). */
import { complexityOf } from "../core/promise.ts";
import { execute } from "./execution.ts";
import { makePlan, singleShotPlan } from "./planning.ts";
import type { Flow } from "./run.ts";

export const hybrid: Flow = async (run) => {
  const { plan, claims } = await makePlan(run, singleShotPlan);
  const mode = plan.intent === "task" && complexityOf(plan) === "complex" ? "eight-step" : "single-shot";
  run.record.mode = mode;
  if (plan.intent === "conversation") {
    run.record.text = plan.reply;
    return;
  }
  run.emit({
    type: "notice",
    level: "info",
    code: "mode_chosen",
    text: `the plan is ${complexityOf(plan)}: working ${mode}`,
  });
  if (run.options.planOnly) return;
  if (mode === "single-shot") return execute(run, plan, claims);
  const [{ scheduleOf }, { followSchedule, promiseOf }] = await Promise.all([
    import("../core/schedule.ts"),
    import("./eight-step.ts"),
  ]);
  const schedule = scheduleOf(plan);
  run.ledger.promise(promiseOf(schedule, run.ledger.made));
  await followSchedule(run, schedule, claims);
};
