/** A queue of evaluations in the team's store: one machine fills it, many work on it; work of a dead worker is taken again. */

import { hostname } from "node:os";
import { openLog, showResult } from "../../cli/answer-document.ts";
import { version } from "../../cli/commands/version.ts";
import type { Base } from "../../cli/compose/base.ts";
import { PaiError, toPaiError } from "../../core/error.ts";
import type { Json } from "../../core/model.ts";
import { modes } from "../../store/setting-table.ts";
import { counted } from "../../ui/amount.ts";
import { withStore } from "../team/link-team.ts";
import { pause, storeJson, type TeamStore } from "../team/team-store.ts";
import { type Bench, controls, type EvalResult, figuresOf, readResults } from "./candidate.ts";
import type { EvalTask } from "./load-tasks.ts";
import { type EvalPlan, itemsOf, keepResult, keptResults, type WorkSource, workOn } from "./run-eval.ts";

const leaseSeconds = 60;
/** Milliseconds between looks at a queue whose work others have taken. */
const pauseMs = 2000;
const tries = 5;

export async function fill(base: Base, queue: string, plan: EvalPlan): Promise<number> {
  const work = itemsOf(plan).map(({ key, task, candidate, repeat }) => ({
    key,
    task: task.id,
    sha256: task.sha256,
    ...candidate,
    repeat,
  }));
  const filling = { queue, pai: version, maxCost: plan.maxCost };
  const added = await withStore(base, "--queue", (store) => fillQueue(store, filling, work));
  const text = `${counted(added, "item")} added to ${queue}, ${work.length - added} there before; empty it: pai eval worker TASKS --queue ${queue}\n`;
  return showResult(base.context, "eval", { queue, added, known: work.length - added }, text);
}

export async function readQueued(base: Base, queue: string): Promise<readonly EvalResult[]> {
  const rows = await withStore(base, "--queue", (store) => readQueueResults(store, queue));
  if (rows === null) throw new PaiError("usage", `unknown queue: ${queue}`);
  const results = readResults(rows.map((row) => JSON.stringify(row)).join("\n"));
  if (results.length === 0) throw new PaiError("usage", `the queue ${queue} has no results yet`);
  return results;
}

const failedWork = ({ key, task, model, mode, repeat }: QueuedWork, error: string): EvalResult => ({
  ...{ v: 1, key, task, model, mode, repeat, pai: version, passed: false, tampered: [], false_verified: false },
  ...figuresOf({ ended: null, ms: 0, error }),
  check: { exit: null, ms: 0, output: "" },
});

/** Whether a row, which somebody else wrote, names a valid candidate: it becomes arguments of a command. */
const isCandidate = ({ model, mode }: QueuedWork): boolean =>
  !model.startsWith("-") && (controls.includes(model) ? mode === "none" : modes.some((known) => known === mode));

interface Working {
  readonly queue: string;
  readonly tasks: readonly EvalTask[];
  /** USD that this worker may spend; null: only the queue's and each run's limits apply. */
  readonly maxCost: number | null;
  /** Local file of its results; the next start sends those that the database did not get. */
  readonly file: string;
  readonly bench: Bench;
}

/** The queue as a source of work, while the database is unreachable too: a worker outlives its restart. */
function openSource(store: TeamStore, worker: Worker, { tasks, maxCost, file, bench }: Working, log: typeof bench.say) {
  const bySha = new Map(tasks.map((task) => [task.sha256, task] as const));
  const done: EvalResult[] = [];
  let own = maxCost ?? Infinity;
  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried += 1) {
      try {
        return await ask();
      } catch (thrown) {
        const error = toPaiError(thrown);
        if (error.code !== "store_away" || tried === tries) throw error;
        log(`${error.message}; asking again`);
        await pause(pauseMs * tried, bench.signal);
      }
    }
  }
  const look = () => patiently(() => lookAtQueue(store, worker));
  const send = (result: EvalResult) => patiently(() => finishWork(store, worker.queue, result.key, result));
  const finish = async (result: EvalResult) => {
    keepResult(file, result);
    done.push(result);
    own -= result.cost ?? 0;
    await send(result);
    return (await look())?.open ?? 0;
  };
  /** What may be spent on the next work; 0: none is left. */
  const roomNow = async (isFound: boolean): Promise<number> => {
    const state = await look();
    if (state === null || (!isFound && state.taken === 0)) return 0;
    return Math.min(own, (state.maxCost ?? Infinity) - state.cost);
  };
  // Where others hold what is left it waits, since they may die.
  const take: WorkSource["take"] = async () => {
    while (own > 0) {
      bench.signal.throwIfAborted();
      const work = await patiently(() => takeWork(store, worker));
      const room = await roomNow(work !== null);
      const task = bySha.get(work?.sha256 ?? "");
      if (work === null && room <= 0) return null;
      if (work === null) await pause(pauseMs, bench.signal);
      else if (task === undefined || !isCandidate(work)) await finish(failedWork(work, "the candidate is not valid"));
      else return { item: { ...work, task, candidate: { model: work.model, mode: work.mode } }, room };
    }
    return null;
  };
  return { take, finish, look, send, done };
}

/**
 * Works on a queue until nothing is left that this worker could do; returns its own results. Throws usage for an unknown
 * queue, store_away if the database stays unreachable.
 */
export function work(base: Base, working: Working): Promise<readonly EvalResult[]> {
  const { queue, tasks, file, bench } = working;
  const name = `${hostname()} ${process.pid} ${crypto.randomUUID()}`;
  const worker = { queue, name, pai: version, tasks: tasks.map(({ sha256 }) => sha256), lease: leaseSeconds };
  const warn = (text: string) => openLog(base.context).notify({ level: "warning", code: "store", text });
  return withStore(base, "--queue", async (store) => {
    const source = openSource(store, worker, working, warn);
    if ((await source.look()) === null)
      throw new PaiError("usage", `unknown queue: ${queue}`, { hint: `fill it: pai eval run TASKS --queue ${queue}` });
    for (const result of keptResults(file)) if (result.error === null) await source.send(result);
    const renewing = setInterval(() => void renewWork(store, worker).catch(() => {}), (leaseSeconds * 1000) / 3);
    try {
      await workOn(source, bench);
      for (const lost of await readGivenUp(store, queue)) await source.send(failedWork(lost, "no worker finished it"));
      return source.done;
    } finally {
      clearInterval(renewing);
      await giveBack(store, worker).catch(() => {});
    }
  });
}

/** The work of one candidate on one task; `key` is the key of its result. */
interface QueuedWork {
  readonly key: string;
  readonly task: string;
  readonly sha256: string;
  readonly model: string;
  readonly mode: string;
  readonly repeat: number;
}

/** A worker and the work it can do: the tasks that it has, for its version of pai. */
export interface Worker {
  readonly queue: string;
  readonly name: string;
  readonly pai: string;
  readonly tasks: readonly string[];
  /** Seconds after which its work goes to another worker, unless it renews it. */
  readonly lease: number;
}

/** Work during which this many workers died is not given out again. */
export const maxAttempts = 3;

const listOf = (values: readonly string[]): string => JSON.stringify(values);
const isMine = "task_sha in (select jsonb_array_elements_text($2::text::jsonb)) and pai = $3";

/**
 * Adds work. Work that is already queued stays, unless its result is an error; then it is tried again. Returns the
 * number of new items. `maxCost` limits the whole queue; null keeps the earlier limit.
 */
export async function fillQueue(
  store: TeamStore,
  { queue, pai, maxCost }: { readonly queue: string; readonly pai: string; readonly maxCost: number | null },
  work: readonly QueuedWork[],
): Promise<number> {
  await store.query(
    `insert into pai.eval_queues as q values ($1, $2)
      on conflict (name) do update set max_cost = coalesce(excluded.max_cost, q.max_cost)`,
    [queue, maxCost],
  );
  let added = 0;
  for (let at = 0; at < work.length; at += 1000) {
    const rows = await store.query(
      `insert into pai.eval_items as i (queue, key, task, task_sha, model, mode, repeat, pai)
        select $1, key, task, sha256, model, mode, repeat, $2
          from jsonb_to_recordset($3::text::jsonb) as w(key text, task text, sha256 text, model text, mode text, repeat int)
        on conflict (queue, key) do update set result = null, attempts = 0, lease = null, worker = null
          where i.result ->> 'error' is not null
        returning 1`,
      [queue, pai, JSON.stringify(work.slice(at, at + 1000))],
    );
    added += rows.length;
  }
  return added;
}

/** Takes the next free item of work; null: none is free, or the queue's cost limit is reached. */
export async function takeWork(store: TeamStore, { queue, tasks, pai, name, lease }: Worker) {
  const [row] = await store.query<QueuedWork>(
    // Materialized, so that it is looked up once; as a join it may be looked up for every row.
    `with next as materialized (
        select key from pai.eval_items
        where queue = $1 and result is null and (lease is null or lease < now()) and attempts < ${maxAttempts} and ${isMine}
          and not exists (select 1 from pai.eval_queues q where q.name = $1 and q.max_cost <=
            (select coalesce(sum((result ->> 'cost')::float8), 0) from pai.eval_items where queue = $1))
        order by place limit 1 for update skip locked)
      update pai.eval_items as i
      set worker = $4, lease = now() + $5 * interval '1 second', attempts = i.attempts + 1
      from next where i.queue = $1 and i.key = next.key
      returning i.key, i.task, i.task_sha as sha256, i.model, i.mode, i.repeat`,
    [queue, listOf(tasks), pai, name, lease],
  );
  return row ?? null;
}

export async function renewWork(store: TeamStore, { queue, name, lease }: Worker): Promise<void> {
  await store.query(
    "update pai.eval_items set lease = now() + $3 * interval '1 second' where queue = $1 and worker = $2 and result is null",
    [queue, name, lease],
  );
}

/** Saves a result unless one without an error is already there: the first one counts. */
export async function finishWork(store: TeamStore, queue: string, key: string, result: object): Promise<void> {
  await store.query(
    `update pai.eval_items set result = $3::text::jsonb, lease = null
      where queue = $1 and key = $2 and (result is null or result ->> 'error' is not null)`,
    [queue, key, storeJson(result)],
  );
}

export async function giveBack(store: TeamStore, { queue, name }: Worker): Promise<void> {
  await store.query(
    `update pai.eval_items set lease = null, worker = null, attempts = attempts - 1
      where queue = $1 and worker = $2 and result is null`,
    [queue, name],
  );
}

/**
 * The unfinished work that this worker could do, `taken` or not, with cost and cap (null: none) of the queue in USD; null:
 * unknown queue. Throws like the store's `query`.
 */
export async function lookAtQueue(store: TeamStore, { queue, tasks, pai }: Worker) {
  type State = { known: boolean; open: number; taken: number; cost: number; maxCost: number | null };
  const [row] = await store.query<State>(
    `select exists (select 1 from pai.eval_queues where name = $1) as known,
      (count(*) filter (where result is null and ${isMine} and (attempts < ${maxAttempts} or lease > now())))::float8 as open,
      (count(*) filter (where result is null and ${isMine} and lease > now()))::float8 as taken,
      coalesce(sum((result ->> 'cost')::float8), 0) as cost,
      (select max_cost from pai.eval_queues where name = $1) as "maxCost"
      from pai.eval_items where queue = $1`,
    [queue, listOf(tasks), pai],
  );
  return row?.known === true ? row : null;
}

export const readGivenUp = (store: TeamStore, queue: string): Promise<readonly QueuedWork[]> =>
  store.query<QueuedWork>(
    `select key, task, task_sha as sha256, model, mode, repeat from pai.eval_items
      where queue = $1 and result is null and attempts >= ${maxAttempts} and lease < now() order by place`,
    [queue],
  );

export async function readQueueResults(store: TeamStore, queue: string): Promise<readonly Json[] | null> {
  const [known] = await store.query("select 1 from pai.eval_queues where name = $1", [queue]);
  if (known === undefined) return null;
  const rows = await store.query<{ result: Json }>(
    "select result from pai.eval_items where queue = $1 and result is not null order by place",
    [queue],
  );
  return rows.map(({ result }) => result);
}
