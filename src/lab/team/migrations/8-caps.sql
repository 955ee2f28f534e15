-- The caps of the team (null: none), which its owner sets, and the machines that it has. `required`: no call is made while this
-- database is unreachable.
create table pai.caps (
  one boolean primary key default true check (one),
  calls double precision, tokens double precision, cost double precision, required boolean not null default false
);
insert into pai.caps default values;
grant select on pai.caps to public;
create table pai.machines (name text primary key, seen timestamptz not null default now());

create function pai.greet(
  machine text, out calls double precision, out tokens double precision, out cost double precision, out required boolean, out machines double precision
) language plpgsql security definer set search_path = pg_catalog, pai as $$
begin
  insert into pai.machines (name) values (left(machine, 200)) on conflict (name) do update set seen = now();
  select c.calls, c.tokens, c.cost, c.required, (select count(*) from pai.machines m where m.seen > now() - interval '30 days')
    into calls, tokens, cost, required, machines from pai.caps c;
end $$;

-- As before, within the caps of the team above. The first call of a run also reserves the other calls that the run promises
-- (`promised`, with this one) as the claim `a_run`, from which its later calls are taken: runs that begin together do not use
-- up each other's calls before one of them is done.
drop function pai.reserve;
create function pai.reserve(
  a_claim uuid, a_run uuid, promised double precision,
  user_calls double precision, user_tokens double precision, user_cost double precision,
  a_input double precision, a_least double precision, a_most double precision,
  input_cost double precision, per_output double precision,
  out granted boolean, out of_scope text, out what text, out used double precision, out cap double precision,
  out claim_tokens double precision, out claim_cost double precision
) language plpgsql security definer set search_path = pg_catalog, pai as $$
declare
  known pai.claims;
  one pai.spent;
  team pai.caps;
  needed double precision := promised;
  cap_calls double precision; cap_tokens double precision; cap_cost double precision;
  reply double precision := a_most;
  on_day date := pai.today();
begin
  if not (a_input between 0 and 1e12 and a_least between 0 and a_most and a_most <= 1e12
    and input_cost between 0 and 1e9 and per_output between 0 and 1e3 and promised between 1 and 1e3) then
    raise exception 'not a possible call' using errcode = '22023';
  end if;
  select * into known from pai.claims where id = a_claim and who = session_user;
  if found then
    granted := true; claim_tokens := known.tokens; claim_cost := known.cost;
    return;
  end if;
  perform pai.book(on_day, session_user::text, 0, 0, 0);
  select * into team from pai.caps;
  perform 1 from pai.spent s where s.day = on_day and s.scope in ('team', 'user ' || session_user) order by s.scope for update;
  select * into known from pai.claims where id = a_run and who = session_user and day = on_day and not settled for update;
  if found and known.calls >= 1 then
    needed := 0;
  end if;
  for one in
    select * from pai.spent s where s.day = on_day and s.scope in ('team', 'user ' || session_user) order by s.scope
  loop
    if one.scope = 'team' then
      cap_calls := team.calls; cap_tokens := team.tokens; cap_cost := team.cost;
    else
      cap_calls := user_calls; cap_tokens := user_tokens; cap_cost := user_cost;
    end if;
    granted := false; of_scope := one.scope;
    if one.calls + needed > cap_calls then
      what := 'calls'; used := one.calls; cap := cap_calls;
      return;
    end if;
    reply := least(reply, coalesce(floor(cap_tokens - one.tokens - a_input), reply));
    if reply < a_least then
      what := 'tokens'; used := one.tokens; cap := cap_tokens;
      return;
    end if;
    if cap_cost is not null and per_output > 0 then
      reply := least(reply, floor((cap_cost - one.cost - input_cost) / per_output));
    end if;
    if reply < a_least or one.cost + input_cost + reply * per_output > cap_cost then
      what := 'cost'; used := one.cost; cap := cap_cost;
      return;
    end if;
  end loop;
  granted := true; of_scope := null;
  claim_tokens := a_input + reply; claim_cost := input_cost + reply * per_output;
  insert into pai.claims (id, day, who, calls, tokens, cost) values (a_claim, on_day, session_user, 1, claim_tokens, claim_cost);
  if needed = 0 then
    update pai.claims set calls = calls - 1 where id = a_run;
  else
    insert into pai.claims as c (id, day, who, calls, tokens, cost) values (a_run, on_day, session_user, needed - 1, 0, 0)
      on conflict (id) do update set calls = excluded.calls where c.who = session_user and c.day = on_day and not c.settled;
  end if;
  perform pai.book(on_day, session_user::text, needed, claim_tokens, claim_cost);
end $$;

create or replace function pai.is_held() returns boolean language sql stable security definer set search_path = pg_catalog, pai as $$
  select exists (select 1 from pai.claims
    where not settled and calls > 0 and day = pai.today() and at > now() - interval '10 minutes')
$$;
