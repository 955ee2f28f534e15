/** `pai context`: previews the first request of a task, without sending or paying for it. */
import { allActions } from "../../actions/match-vocabulary.ts";
import { PaiError } from "../../core/error.ts";
import type { Model } from "../../core/model.ts";
import type { Notice } from "../../core/question.ts";
import { createVeil } from "../../core/secrets/veil.ts";
import type { Price } from "../../core/spending/cost.ts";
import { type Preview, preview } from "../../flows/preview.ts";
import type { RunOptions, Task } from "../../flows/run.ts";
import { runTask } from "../../flows/run-task.ts";
import { showResult } from "../answer-document.ts";
import { findMentions } from "../at-paths.ts";
import { columnsOf } from "../columns.ts";
import type { Context } from "../command.ts";
import { type ComposedWorkspace, composeOptions, limitTime, makeRunId } from "../compose/compose.ts";
import { listModels } from "../compose/compose-model.ts";
import { knownSecrets } from "../compose/known-secrets.ts";
import { describeChosen, priceOf } from "../compose/model-facts.ts";
import { openHere } from "../compose/open-here.ts";
import { openProjectMemory } from "../compose/project-memory.ts";
import { pickModel } from "../onboard/pick-model.ts";
import { openLog } from "../open-log.ts";
import { renderPreview, renderRanking } from "./render-context.ts";
import { readTask } from "./task.ts";

/** A model that is never asked; only its limits matter for the preview. */
function neverAsked(described: Previewed["model"]): Model {
  return {
    ...described,
    address: null,
    stream: () => {
      throw new PaiError("internal", "pai context asked a model");
    },
  };
}

export interface Previewed {
  /** What is known of the model before it is opened. */
  readonly model: Omit<Model, "stream" | "address">;
  readonly opened: Pick<ComposedWorkspace, "workspace" | "stateFolder">;
  readonly task: Task;
  readonly options: RunOptions;
  readonly price: Price | null;
  /** The secrets that are known; others are found. */
  readonly known: readonly string[];
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** Reports what the ranking had to do without. */
  readonly notify: (notice: Notice) => void;
}

/** The first request of a task. Sends nothing and keeps nothing. Throws what preparing the request throws. */
export async function previewTask({
  model,
  opened,
  task,
  options,
  price,
  known,
  signal,
  now,
  notify,
}: Previewed): Promise<Preview> {
  const seen: Preview[] = [];
  const outcome = await runTask(
    async (run) => {
      seen.push(await preview(run));
    },
    task,
    options,
    {
      id: makeRunId(now()),
      model: neverAsked(model),
      price: () => price,
      veil: createVeil({ known }),
      workspace: opened.workspace,
      memory: openProjectMemory(opened, { run: "", learns: false, isSeen: false, now }),
      actions: allActions,
      decide: async () => ({ accept: false, by: "policy", reason: "nothing is done", feedback: null }),
      sink: (event) => {
        if (event.type === "notice" && event.code.startsWith("checks_")) notify(event);
      },
      signal,
      now,
      planCache: null,
    },
  );
  const [found] = seen;
  if (outcome.error !== null)
    throw new PaiError(outcome.error.code, outcome.error.message, { hint: outcome.error.hint ?? undefined });
  if (found === undefined) throw new PaiError("internal", "there is no preview");
  return found;
}

export async function contextCommand(context: Context): Promise<number> {
  const { notify } = openLog(context);
  const read = await readTask(context, context.signal, notify, "context");
  const opened = await openHere(context);
  const task = { ...read, files: await findMentions(opened.workspace, read.text) };
  const { base } = pickModel(context, opened.base);
  const { settings } = base;
  const [id] = listModels(settings.model);
  const { signal, end } = limitTime(context.signal, settings.limits.timeout);
  const options = composeOptions(context, base, "context", false);
  const price = priceOf(id, base, context.now());
  const { now } = context;
  const known = knownSecrets(opened.base, opened.workspace.root);
  const chosen = describeChosen(id, base);
  const found = await previewTask({ model: chosen, opened, task, options, price, known, signal, now, notify }).finally(
    end,
  );
  const model = chosen.id;
  const columns = context.tty.stdout ? columnsOf(context.env) : null;
  return showResult(
    context,
    "context",
    { model, mode: settings.mode, ...found },
    `${renderRanking(found, columns)}\n${renderPreview(model, settings.mode, found, columns)}`,
  );
}
