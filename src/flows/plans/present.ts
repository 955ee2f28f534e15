/** Shows a plan with its promise and its real paths, before anybody says yes to it; what the run will have used at its end. */
import { permittedBy } from "../../core/command/run-patterns.ts";
import { orNull, PaiError, toPaiError } from "../../core/error.ts";
import { noUsage, sizeOf, weighedOf } from "../../core/model.ts";
import type { Promised } from "../../core/outcome.ts";
import { nameOf, type PathUse, parentOf, type RelPath } from "../../core/path.ts";
import { type Plan, type PlanStep, workOf } from "../../core/plan/plan.ts";
import type { CallPromise } from "../../core/plan/promise.ts";
import { type PlanClaim, useOfTarget } from "../../core/plan/scope.ts";
import { isLook, namesPath, type PlanAction, rowOf } from "../../core/vocabulary.ts";
import {
  claimsOfPlan,
  concernsOf,
  plannedCommands,
  refusedCommands,
  refuseForbidden,
  refuseLinks,
  withoutCommands,
} from "../approval.ts";
import { readNested } from "../briefing/sources.ts";
import { bindCommands } from "../commands/commands.ts";
import { sizeOfFiles } from "../dialogue.ts";
import { takeUp } from "../ending/ending.ts";
import { planAndWorkPrompt } from "../prompts/prompts.ts";
import type { Run } from "../run.ts";

export interface Presented {
  readonly plan: Plan;
  readonly claims: readonly PlanClaim[];
}

/** What a plan promises, and how many planning calls are part of that. */
interface Offer {
  readonly promise: CallPromise;
  readonly plans: number;
  readonly cached: boolean;
  readonly isDone?: boolean;
}

async function announce(run: Run, { plan, claims }: Presented, { promise, plans, cached, isDone = false }: Offer) {
  run.ledger.promise(promise);
  // Another planning call may take the spare call, but never one that the execution needs.
  run.ledger.reserve(Math.max(0, promise.at_most - plans - 1));
  run.planning.plan = plan;
  if (plan.intent === "conversation") return;
  const permitted = permittedBy(run.shell.allowRun, plannedCommands(plan));
  const { expected, at_most } = run.ledger.promised;
  const announced = { plan, promise: { expected, at_most, ...(await forecast(run, plan)) }, cached };
  const concerns = concernsOf(run, claims);
  await readNested(run, claims);
  const guides = [...run.reading.guides, ...run.reading.nested.map(({ path }) => path)];
  run.emit({
    type: "plan.ready",
    ...announced,
    ...(isDone && { at_once: true as const }),
    ...(guides.length > 0 && { guides }),
    ...(permitted.length > 0 && { permitted }),
    ...(concerns.length > 0 && { concerns }),
  });
}

/** Announces the plan with its promise; refuses at once what not even a yes may allow. */
export async function present(run: Run, made: Plan, offer: Offer): Promise<Presented> {
  const whole = withRealPaths(run, made);
  const plan = withoutCommands(run, whole);
  const claimed = plan.intent === "task" ? claimsOfPlan(run, plan) : { claims: [], refusals: [] };
  const { claims } = claimed;
  for (const step of workOf(plan)) takeUp(run.ending, [step.target, pathOf(run, step) ?? ""]);
  // Of a plan that is refused for its commands the commands are shown.
  const shown = refusedCommands(run, claimed).length > 0 ? whole : plan;
  await announce(run, { plan: shown, claims }, offer);
  await refuseForbidden(run, claimed);
  await refuseLinks(run, claims);
  await bindCommands(run, plannedCommands(plan));
  return { plan, claims };
}

const maxOfLook = 2000;
/** Estimated characters that a model writes for an action, and for FINISH. */
const written: Readonly<Partial<Record<PlanAction, number>>> = { WRITE: 2400, MODIFY: 800 };
const shortAction = 60;
const finishText = 400;

/** Estimates what the whole run will have used at its end: tokens, the same weighed, and USD (null: price unknown). */
async function forecast(run: Run, plan: Plan): Promise<Pick<Promised, "tokens" | "weighed" | "cost">> {
  const { dialogue, ledger, task } = run;
  const steps = plan.execution_plan?.steps ?? [];
  const repeated =
    dialogue.messages.length === 0
      ? planAndWorkPrompt(run.changing.strict).length + task.text.length + (task.context?.length ?? 0)
      : dialogue.messages.reduce((sum, message) => sum + sizeOf(message), dialogue.head.length);
  let sent = JSON.stringify(steps).length / 2 + (await sizeOfFiles(run, plan));
  let output = finishText;
  for (const { action } of steps) {
    if (isLook(action) && rowOf(action)?.shows !== true) sent += maxOfLook;
    output += written[action] ?? shortAction;
  }
  const calls = Math.max(0, ledger.promised.expected - ledger.made);
  // The price is the full one: a cache may miss.
  const rest = { ...noUsage, input: calls * ledger.estimate(repeated + sent), output: calls * ledger.estimate(output) };
  const price = ledger.priceOf(rest);
  const kept = dialogue.messages.length === 0 ? 0 : calls * ledger.estimate(repeated);
  return {
    tokens: ledger.usage.input + ledger.usage.output + rest.input + rest.output,
    weighed: weighedOf(ledger.usage) + weighedOf({ ...rest, cached: kept }),
    cost: price === null || ledger.cost === null ? null : ledger.cost + price,
  };
}

/** The plan with paths relative to the root, and with what links lead to in their place; says which links those are. */
function withRealPaths(run: Run, plan: Plan): Plan {
  const { overlay, workspace } = run;
  if (plan.execution_plan === null) return plan;
  const removed = new Set(plan.execution_plan.steps.flatMap(({ action, target }) => (action === "RM" ? [target] : [])));
  const links = new Map<string, string>();
  const real = (text: string, use: PathUse): string => {
    try {
      const path = workspace.path(text, use);
      // What the plan removes is the link itself.
      const target = overlay.path(text, removed.has(text) ? "delete" : use);
      if (target === path) return text.startsWith("/") ? path || "." : text;
      links.set(path, target);
      return target;
    } catch {
      return text;
    }
  };
  const steps = plan.execution_plan.steps.map((step) => {
    const { action, target, destination } = step;
    if (!namesPath(action)) return step;
    const made = { ...step, target: real(target, useOfTarget(action)) };
    if (rowOf(action)?.form !== "pair" || destination === null) return made;
    return { ...made, destination: real(destination, action === "MV" ? "move" : "write") };
  });
  for (const [link, target] of links) {
    if (run.planning.linksTold.has(link)) continue;
    run.planning.linksTold.add(link);
    const text = `${link} leads to ${target} by a link: that is what the plan works on`;
    run.emit({ type: "notice", level: "info", code: "link_followed", text });
  }
  return { ...plan, execution_plan: { ...plan.execution_plan, steps } };
}

const needsTarget = ({ action }: PlanStep): boolean => ["READ", "MODIFY", "RM", "MV", "COPY", "MODE"].includes(action);

const pathOf = ({ overlay }: Run, { action, target }: PlanStep): RelPath | null =>
  orNull(() => overlay.path(target, useOfTarget(action)));

/** Whether there is something at a path, or was when the model saw it; what cannot be read counts as there. */
const exists = ({ overlay }: Run, path: RelPath): Promise<boolean> =>
  overlay.read(path).then(
    async (blob) => blob !== null || (await overlay.isChanged(path)),
    () => true,
  );

async function findInOtherCase({ overlay }: Run, path: RelPath): Promise<readonly RelPath[]> {
  let found: readonly RelPath[] = ["" as RelPath];
  for (const part of path.split("/")) {
    const below = await Promise.all(found.map((folder) => overlay.list(folder).catch(() => [])));
    found = below
      .flat()
      .flatMap((entry) => (nameOf(entry.path).toLowerCase() === part.toLowerCase() ? [entry.path] : []));
  }
  return found;
}

/** Steps on something that is not there, and that no step before them makes. */
async function findMissing(run: Run, plan: Plan) {
  const missing: { step: PlanStep; path: RelPath }[] = [];
  const made: string[] = [];
  for (const step of workOf(plan)) {
    const { kind, form } = rowOf(step.action) ?? {};
    // A command may make anything.
    if (kind === "command") break;
    const path = needsTarget(step) ? pathOf(run, step) : null;
    const isMade = made.some((each) => path === each || path?.startsWith(`${each}/`));
    if (path !== null && !isMade && !(await exists(run, path))) missing.push({ step, path });
    if (kind === "change") made.push(form === "pair" ? (step.destination ?? "") : step.target);
  }
  return missing;
}

/** The plan with paths that only differ in case from the one that is there in its place; says which those are. */
export async function asOnDisk(run: Run, plan: Plan): Promise<Plan> {
  if (plan.intent === "conversation" || plan.execution_plan === null) return plan;
  for (const { step, path } of await findMissing(run, plan)) {
    const [only, ...more] = await findInOtherCase(run, path);
    if (only === undefined || more.length > 0 || run.planning.respelled.get(step.target) === only) continue;
    run.planning.respelled.set(step.target, only);
    const text = `there is no ${path}: the plan works on ${only}`;
    run.emit({ type: "notice", level: "info", code: "path_respelled", text });
  }
  const steps = plan.execution_plan.steps.map((step) => ({
    ...step,
    target: (namesPath(step.action) ? run.planning.respelled.get(step.target) : undefined) ?? step.target,
  }));
  return { ...plan, execution_plan: { ...plan.execution_plan, steps } };
}

const limits = { entries: 5_000, names: 30 } as const;

/** The paths with this name, else what the nearest folder that exists holds. */
async function tellWhatIsThere(run: Run, path: RelPath): Promise<string> {
  const same: string[] = [];
  let seen = 0;
  for await (const entry of run.overlay.walk("" as RelPath, run.signal)) {
    if (nameOf(entry.path).toLowerCase() === nameOf(path).toLowerCase()) same.push(entry.path);
    seen += 1;
    if (seen >= limits.entries) break;
  }
  if (same.length > 0) return `there is ${same.slice(0, limits.names).join(", ")}`;
  let folder = parentOf(path);
  while (folder !== "" && !(await exists(run, folder))) folder = parentOf(folder);
  const entries = (await run.overlay.list(folder).catch(() => [])).slice(0, limits.names);
  const names = entries.map((entry) => (entry.kind === "folder" ? `${nameOf(entry.path)}/` : nameOf(entry.path)));
  return `${folder === "" ? "the project" : folder} holds ${names.join(", ") || "nothing"}; a new file is planned with WRITE`;
}

async function whyMissing(run: Run, plan: Plan): Promise<PaiError | null> {
  // What is deleted, moved or copied already may be done; the action itself says so.
  const missing = (await findMissing(run, plan)).find(({ step }) => step.action === "MODIFY");
  if (missing === undefined) return null;
  return new PaiError("file_unusable", `there is no ${missing.path} to modify`, {
    hint: await tellWhatIsThere(run, missing.path),
  });
}

/** What the model may mend in its plan, once; null: nothing. `isDone`: the work came with the plan. */
export async function whyUnfit(run: Run, plan: Plan, isDone: boolean): Promise<PaiError | null> {
  if (plan.intent !== "task") return null;
  const steps = plan.execution_plan?.steps ?? [];
  const work = steps.flatMap(({ action, target }) => (rowOf(action)?.right == null ? [] : [`${action} ${target}`]));
  if (run.planning.asksOnly && work.length > 0)
    return new PaiError(
      "scope_refused",
      `nothing may be changed or run here, so not ${work.join(", ")}: only look and answer`,
    );
  const changes = steps.filter(({ action }) => rowOf(action)?.kind === "change").map(({ action }) => action);
  const isMove = changes.sort().join(" ") === "RM WRITE";
  if (isMove && !run.interactive && !run.changing.allowDelete && !run.changing.dryRun)
    return new PaiError("delete_refused", "nothing may be deleted here", {
      hint: "where a file gets another name, MV moves it with its content",
    });
  try {
    await refuseLinks(run, claimsOfPlan(run, withRealPaths(run, plan)).claims);
    return isDone ? null : await whyMissing(run, plan);
  } catch (thrown) {
    const error = toPaiError(thrown);
    if (error.code !== "path_refused") throw thrown;
    return error;
  }
}
