-- What a service had kept of the requests of a run.
alter table pai.runs add column cached double precision not null default 0 check (cached between 0 and 1e15);
