-- When keys at their limit may be used again. A key is named by a digest that only who holds it can make, and nobody
-- can list them; a rest is counted from the moment the database hears of it, so that no clock but its own matters.
create table pai.key_rests (
  key text primary key check (key ~ '^[0-9a-f]{64}$'),
  until timestamptz not null
);

create function pai.rest_key(a_key text, seconds double precision)
returns void language plpgsql security definer set search_path = pg_catalog, pai as $$
begin
  delete from pai.key_rests where until < now();
  if seconds > 0 then
    insert into pai.key_rests as r (key, until) values (a_key, now() + least(seconds, 172800) * interval '1 second')
      on conflict (key) do update set until = greatest(r.until, excluded.until);
  end if;
end $$;

create function pai.resting(keys text[])
returns table (key text, seconds double precision) language sql stable security definer set search_path = pg_catalog, pai as $$
  select r.key, extract(epoch from r.until - now())::double precision from pai.key_rests r
    where r.key = any (keys) and r.until > now()
$$;
