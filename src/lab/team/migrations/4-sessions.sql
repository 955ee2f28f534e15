-- Sessions, line by line as they stand in their files, private to the login that wrote them.
create table pai.sessions (
  who text not null default session_user,
  id text collate "C" not null check (id ~ '^\d{8}-\d{6}-[0-9a-f]{8}$'),
  project text not null,
  host text not null,
  turns integer not null,
  preview text not null,
  changed timestamptz not null default now(),
  primary key (who, id)
);
create table pai.session_lines (
  who text not null default session_user,
  id text collate "C" not null,
  n integer not null check (n >= 1),
  line text not null,
  primary key (who, id, n)
);
alter table pai.sessions enable row level security;
alter table pai.sessions force row level security;
create policy own on pai.sessions using (who = session_user) with check (who = session_user);
alter table pai.session_lines enable row level security;
alter table pai.session_lines force row level security;
create policy own on pai.session_lines using (who = session_user) with check (who = session_user);
grant select, insert, update, delete on pai.sessions, pai.session_lines to public;
