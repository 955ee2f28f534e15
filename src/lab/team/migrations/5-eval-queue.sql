-- Work of evaluations, for any number of workers: each takes what nobody works on, by a lease that it must renew.
create table pai.eval_queues (
  name text primary key,
  max_cost double precision
);
create table pai.eval_items (
  queue text not null,
  key text not null check (key ~ '^[0-9a-f]{32}$'),
  place bigint generated always as identity,
  task text not null,
  task_sha text not null,
  model text not null,
  mode text not null,
  repeat integer not null check (repeat >= 0),
  pai text not null,
  worker text,
  lease timestamptz,
  attempts integer not null default 0,
  result jsonb,
  primary key (queue, key)
);
create index eval_items_open on pai.eval_items (queue, place) where result is null;
grant select, insert, update on pai.eval_queues, pai.eval_items to public;
