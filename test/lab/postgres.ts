/** A real PostgreSQL for tests, started in a temporary folder as an ordinary user; null where there is none. */
import { afterAll, beforeAll } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { orNull } from "../../src/core/error.ts";
import { openTeamStore, readAddress, type TeamStore } from "../../src/lab/team/team-store.ts";
import { newFolder } from "../grounds.ts";
import type { Need } from "../needs.ts";

export interface Postgres {
  /** Its folder; the unix socket stands there. */
  readonly folder: string;
  /** By the socket. `who`: another login than the owner. */
  readonly url: (who?: string) => string;
  /** Statements by psql, as the owner. */
  readonly sql: (text: string) => string;
  /** Ends every process of the server at once, as a power cut does. */
  readonly kill: () => void;
  readonly start: () => void;
  readonly port: number;
  readonly stop: () => void;
}

const debian = "/usr/lib/postgresql";
const bin = (existsSync(debian) ? readdirSync(debian) : [])
  .map((version) => join(debian, version, "bin"))
  .find((folder) => existsSync(join(folder, "initdb")));
const isRoot = process.getuid?.() === 0;

/** PostgreSQL refuses to run as root. */
export const postgres: Need = {
  name: "PostgreSQL",
  isHere: bin !== undefined && (!isRoot || Bun.which("setpriv") !== null),
};

const nobody = 65_534;
const asUser = isRoot ? ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : [];

function run(args: readonly string[]): string {
  const [program = "", ...more] = [...asUser, ...args];
  const env = { LC_ALL: "C.UTF-8" };
  const { status, stdout, stderr } = spawnSync(program, more, { cwd: "/", encoding: "utf8", env });
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

/** A server at a free port of this machine. */
export const listenHere = (socket: Partial<Bun.SocketHandler> = {}) =>
  Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {}, ...socket } });

function freePort(): number {
  const probe = listenHere();
  probe.stop(true);
  return probe.port;
}

let empty: string | null = null;

/** A cluster that nothing was done to, made once for all tests of this process. */
function emptyCluster(): string {
  if (empty !== null) return empty;
  const folder = newFolder("disk", "cluster");
  if (isRoot) chownSync(folder, nobody, nobody);
  empty = join(folder, "data");
  const initdb = join(bin ?? "", "initdb");
  run([initdb, "-D", empty, "-U", "owner", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
  return empty;
}

/** `cert`: files of a certificate and its key; then the server speaks TLS. */
export function startPostgres(cert: { readonly cert: string; readonly key: string } | null = null): Postgres {
  const folder = mkdtempSync(join(tmpdir(), "pai-pg-"));
  if (isRoot) chownSync(folder, nobody, nobody);
  const data = join(folder, "data");
  const program = (name: string) => join(bin ?? "", name);
  run(["cp", "-a", emptyCluster(), data]);
  // Without TLS there is only the socket in its own folder: no port that another program may take meanwhile.
  const port = cert === null ? 5432 : freePort();
  const settings = [
    `listen_addresses = '${cert === null ? "" : "127.0.0.1"}'`,
    `port = ${port}`,
    `unix_socket_directories = '${folder}'`,
  ];
  const own = [...settings, "fsync = off", "max_connections = 250", "shared_buffers = 32MB"];
  if (cert !== null) {
    for (const [from, name] of [
      [cert.cert, "server.crt"],
      [cert.key, "server.key"],
    ] as const) {
      copyFileSync(from, join(data, name));
      chmodSync(join(data, name), 0o600);
      if (isRoot) chownSync(join(data, name), nobody, nobody);
    }
    own.push("ssl = on");
  }
  appendFileSync(join(data, "postgresql.conf"), `${own.join("\n")}\n`);
  const start = () => {
    run([program("pg_ctl"), "-D", data, "-l", join(folder, "log"), "-w", "start"]);
  };
  const kill = () => {
    run([program("pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop"]);
  };
  start();
  return {
    folder,
    port,
    url: (who = "owner") => `postgres://${who}@/postgres?host=${folder}&port=${port}`,
    sql: (text) => {
      const quiet = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"];
      const where = ["-h", folder, "-p", String(port), "-U", "owner", "-d", "postgres"];
      return run([program("psql"), ...quiet, ...where, "-c", text]).trim();
    },
    kill,
    start,
    stop() {
      // It may have been killed.
      orNull(kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Laid extends Postgres {
  /** The store as a login opens it, which is closed after the tests. */
  readonly store: (who?: string) => TeamStore;
}

/** A server for the tests around it, laid out as pai lays it, with these logins beside the owner. */
export function usePostgres(...logins: readonly string[]): Laid {
  let started: Postgres | null = null;
  const stores: TeamStore[] = [];
  const openAs = (who?: string) => openTeamStore(readAddress(started?.url(who) ?? ""), 20_000);
  const store = (who?: string) => {
    const opened = openAs(who);
    stores.push(opened);
    return opened;
  };
  beforeAll(async () => {
    started = startPostgres();
    if (logins.length > 0) started.sql(logins.map((login) => `create role ${login} login`).join("; "));
    const owner = openAs();
    await owner.query("select 1", []);
    await owner.close();
  });
  afterAll(async () => {
    for (const opened of stores) await opened.close();
    started?.stop();
  });
  return new Proxy({} as Laid, { get: (_, name) => Reflect.get({ ...started, store }, name) });
}
