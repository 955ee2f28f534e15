/** The evaluation queue of a team: one machine fills it, many work on it; work of a dead worker is taken again. */
import type { Json } from "../../core/model.ts";
import { storeJson, type TeamStore } from "./team-store.ts";

/** The work of one candidate on one task; `key` is the key of its result. */
export interface QueuedWork {
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

export interface QueueState {
  /** Unfinished work that this worker could do, taken or not. */
  readonly open: number;
  readonly taken: number;
  readonly cost: number;
  /** USD; null: only each run is limited. */
  readonly maxCost: number | null;
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
export async function takeWork(
  store: TeamStore,
  { queue, tasks, pai, name, lease }: Worker,
): Promise<QueuedWork | null> {
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

/** The queue as this worker sees it; null: unknown queue. Throws like the store's `query`. */
export async function lookAtQueue(store: TeamStore, { queue, tasks, pai }: Worker): Promise<QueueState | null> {
  const [row] = await store.query<QueueState & { known: boolean }>(
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

export function readGivenUp(store: TeamStore, queue: string): Promise<readonly QueuedWork[]> {
  return store.query<QueuedWork>(
    `select key, task, task_sha as sha256, model, mode, repeat from pai.eval_items
      where queue = $1 and result is null and attempts >= ${maxAttempts} and lease < now() order by place`,
    [queue],
  );
}

export async function readQueueResults(store: TeamStore, queue: string): Promise<readonly Json[] | null> {
  const [known] = await store.query("select 1 from pai.eval_queues where name = $1", [queue]);
  if (known === undefined) return null;
  const rows = await store.query<{ result: Json }>(
    "select result from pai.eval_items where queue = $1 and result is not null order by place",
    [queue],
  );
  return rows.map(({ result }) => result);
}
