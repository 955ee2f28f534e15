-- Whether calls under way hold a part of the day that they may give back: who finds the day used up can wait for them.
create function pai.is_held() returns boolean language sql stable security definer set search_path = pg_catalog, pai as $$
  select exists (select 1 from pai.claims
    where not settled and day = pai.today() and at > now() - interval '10 minutes')
$$;
