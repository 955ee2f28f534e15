-- The shared index of runs: one row a run, written once by the login that made it, read by all of the team.
create table pai.runs (
  key text primary key check (key ~ '^[0-9a-f]{32}$'),
  who text not null default session_user,
  host text not null,
  shared timestamptz not null default now(),
  id text not null, root text not null, at text not null, task text not null,
  mode text not null, model text not null, status text, code integer,
  calls double precision not null, expected double precision not null, "atMost" double precision not null,
  input double precision not null, output double precision not null, cost double precision,
  ms double precision, actions double precision,
  files double precision not null, added double precision not null, deleted double precision not null,
  score double precision, checks double precision not null, "checksPassed" double precision not null,
  refused double precision not null, amended double precision not null,
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
