-- The shared index of runs: one row a run, written once by the login that made it, read by all of the team.
-- The bounds keep one login from spoiling the sums of all.
create table pai.runs (
  key text primary key check (key ~ '^[0-9a-f]{32}$'),
  who text not null default session_user,
  host text not null,
  shared timestamptz not null default now(),
  id text collate "C" not null, root text not null, at text collate "C" not null, task text not null,
  mode text not null, model text not null, status text, code integer,
  calls double precision not null check (calls between 0 and 1e15),
  expected double precision not null check (expected between 0 and 1e15),
  "atMost" double precision not null check ("atMost" between 0 and 1e15),
  input double precision not null check (input between 0 and 1e15),
  output double precision not null check (output between 0 and 1e15),
  cost double precision check (cost between 0 and 1e15),
  ms double precision check (ms between 0 and 1e15),
  actions double precision check (actions between 0 and 1e15),
  files double precision not null check (files between 0 and 1e15),
  added double precision not null check (added between 0 and 1e15),
  deleted double precision not null check (deleted between 0 and 1e15),
  score double precision check (score between 0 and 1e15),
  checks double precision not null check (checks between 0 and 1e15),
  "checksPassed" double precision not null check ("checksPassed" between 0 and 1e15),
  refused double precision not null check (refused between 0 and 1e15),
  amended double precision not null check (amended between 0 and 1e15),
  sandbox text, undone boolean not null default false
);
create index runs_at on pai.runs (at);
create index runs_id on pai.runs (id);

alter table pai.runs enable row level security;
create policy read_all on pai.runs for select using (true);
create policy write_own on pai.runs for insert with check (who = session_user);
create policy change_own on pai.runs for update using (who = session_user) with check (who = session_user);
grant select, insert on pai.runs to public;
grant update (undone) on pai.runs to public;
