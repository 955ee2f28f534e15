-- What a day has cost, by login and for the whole team. Reservations count in full until they are settled; one that never is
-- (its process was killed) stays counted, since the call may have been paid for. The day is this database's, in UTC.
create table pai.spent (
  day date not null,
  scope text not null,
  calls double precision not null default 0,
  tokens double precision not null default 0,
  cost double precision not null default 0,
  primary key (day, scope)
);
create table pai.claims (
  id uuid primary key,
  day date not null,
  who text not null,
  calls double precision not null,
  tokens double precision not null,
  cost double precision not null,
  settled boolean not null default false,
  at timestamptz not null default now()
);
create index claims_at on pai.claims (at);
grant select on pai.spent to public;

create function pai.today() returns date language sql stable
  as $$ select (now() at time zone 'utc')::date $$;

-- The rows of a day, locked in one order, so that two calls never wait for each other in a circle.
create function pai.book(on_day date, login text, by_calls double precision, by_tokens double precision, by_cost double precision)
returns void language plpgsql security definer set search_path = pg_catalog, pai as $$
begin
  insert into pai.spent as s (day, scope, calls, tokens, cost)
    select on_day, scope, by_calls, by_tokens, by_cost from (values ('team'), ('user ' || login)) as scopes(scope) order by scope
    on conflict (day, scope) do update
      set calls = s.calls + excluded.calls, tokens = s.tokens + excluded.tokens, cost = s.cost + excluded.cost;
end $$;
revoke execute on function pai.book from public;

-- Reserves one call within the caps (null: none). The reply gets what is left of `a_most`, at least `a_least`.
-- Asked again with the same id it answers the same: the answer may have been lost on its way.
create function pai.reserve(
  a_claim uuid, user_calls double precision, user_tokens double precision, user_cost double precision,
  team_calls double precision, team_tokens double precision, team_cost double precision,
  a_input double precision, a_least double precision, a_most double precision,
  input_cost double precision, per_output double precision,
  out granted boolean, out of_scope text, out what text, out used double precision,
  out claim_tokens double precision, out claim_cost double precision
) language plpgsql security definer set search_path = pg_catalog, pai as $$
declare
  known pai.claims;
  one pai.spent;
  cap_calls double precision; cap_tokens double precision; cap_cost double precision;
  reply double precision := a_most;
  on_day date := pai.today();
begin
  if not (a_input between 0 and 1e12 and a_least between 0 and a_most and a_most <= 1e12
    and input_cost between 0 and 1e9 and per_output between 0 and 1e3) then
    raise exception 'not a possible call' using errcode = '22023';
  end if;
  select * into known from pai.claims where id = a_claim and who = session_user;
  if found then
    granted := true; claim_tokens := known.tokens; claim_cost := known.cost;
    return;
  end if;
  perform pai.book(on_day, session_user::text, 0, 0, 0);
  for one in
    select * from pai.spent s where s.day = on_day and s.scope in ('team', 'user ' || session_user) order by s.scope for update
  loop
    if one.scope = 'team' then
      cap_calls := team_calls; cap_tokens := team_tokens; cap_cost := team_cost;
    else
      cap_calls := user_calls; cap_tokens := user_tokens; cap_cost := user_cost;
    end if;
    granted := false; of_scope := one.scope;
    if one.calls + 1 > cap_calls then
      what := 'calls'; used := one.calls;
      return;
    end if;
    reply := least(reply, coalesce(floor(cap_tokens - one.tokens - a_input), reply));
    if reply < a_least then
      what := 'tokens'; used := one.tokens;
      return;
    end if;
    if cap_cost is not null and per_output > 0 then
      reply := least(reply, floor((cap_cost - one.cost - input_cost) / per_output));
    end if;
    if reply < a_least or one.cost + input_cost + reply * per_output > cap_cost then
      what := 'cost'; used := one.cost;
      return;
    end if;
  end loop;
  granted := true; of_scope := null;
  claim_tokens := a_input + reply; claim_cost := input_cost + reply * per_output;
  insert into pai.claims (id, day, who, calls, tokens, cost) values (a_claim, on_day, session_user, 1, claim_tokens, claim_cost);
  perform pai.book(on_day, session_user::text, 1, claim_tokens, claim_cost);
end $$;

-- Puts what a call came to in the place of what was reserved; of a claim that was made while the database was away, adds it.
-- No day lies in the future, whatever the clock of the machine says. Nothing is settled twice.
create function pai.settle(
  a_claim uuid, of_day date, used_calls double precision, used_tokens double precision, used_cost double precision, is_final boolean
) returns void language plpgsql security definer set search_path = pg_catalog, pai as $$
declare
  known pai.claims;
  on_day date := greatest(least(of_day, pai.today()), pai.today() - 31);
begin
  if not (used_calls between 0 and 1e9 and used_tokens between 0 and 1e15 and used_cost between 0 and 1e9) then
    raise exception 'not a possible use' using errcode = '22023';
  end if;
  -- Several are settled by one statement: two of these would wait for each other in a circle.
  perform pg_advisory_xact_lock(7061690002);
  insert into pai.claims (id, day, who, calls, tokens, cost) values (a_claim, on_day, session_user, 0, 0, 0)
    on conflict (id) do nothing;
  select * into known from pai.claims where id = a_claim and who = session_user for update;
  if not found or known.settled then
    return;
  end if;
  update pai.claims set calls = used_calls, tokens = used_tokens, cost = used_cost, settled = is_final where id = a_claim;
  if random() < 0.01 then
    delete from pai.claims where at < now() - interval '60 days';
  end if;
  perform pai.book(known.day, known.who, used_calls - known.calls, used_tokens - known.tokens, used_cost - known.cost);
end $$;

-- Runs that reserved nothing count when they are told.
alter table pai.runs add column reserved boolean not null default false;
create function pai.count_runs() returns trigger language plpgsql security definer set search_path = pg_catalog, pai as $$
declare
  one record;
begin
  perform pg_advisory_xact_lock(7061690002);
  for one in
    select greatest(least(case when at ~ '^\d{4}-(0\d|1[0-2])-[0-2]\d' then left(at, 10)::date else pai.today() end, pai.today()),
      pai.today() - 31) as day, who, sum(calls) as calls, sum(input + output) as tokens, sum(coalesce(cost, 0)) as cost
    from added where not reserved group by 1, 2 order by 1, 2
  loop
    perform pai.book(one.day, one.who, one.calls, one.tokens, one.cost);
  end loop;
  return null;
end $$;
create trigger count_runs after insert on pai.runs referencing new table as added
  for each statement execute function pai.count_runs();
