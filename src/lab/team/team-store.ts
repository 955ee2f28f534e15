/** The team's database: its address, and the connection that the first statement opens, with timeouts and migrations. */
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { SQL } from "bun";
import { version as ownVersion } from "../../cli/commands/version.ts";
import { PaiError } from "../../core/error.ts";
import { waitAtMost } from "../../core/steps.ts";
import runs from "./migrations/1-runs.sql" with { type: "text" };
import days from "./migrations/2-days.sql" with { type: "text" };
import keyRests from "./migrations/3-key-rests.sql" with { type: "text" };
import sessions from "./migrations/4-sessions.sql" with { type: "text" };
import evalQueue from "./migrations/5-eval-queue.sql" with { type: "text" };
import held from "./migrations/6-held.sql" with { type: "text" };
import cached from "./migrations/7-cached.sql" with { type: "text" };
import caps from "./migrations/8-caps.sql" with { type: "text" };

export type TeamStore = ReturnType<typeof openTeamStore>;

/** Classes of SQLSTATE that a retry may solve: connection, resources, shutdown, read-only, lock conflicts. */
const passing = /^(08|53|57P|58|25006|40|55P03)/;

const whys: Readonly<Record<string, string>> = {
  ERR_POSTGRES_CONNECTION_REFUSED: "no server listens there, or the host name is unknown",
  ERR_POSTGRES_CONNECTION_FAILED: "no connection could be made",
  ERR_POSTGRES_CONNECTION_CLOSED: "the connection was lost",
  ERR_POSTGRES_CONNECTION_TIMEOUT: "it does not answer in time",
  ERR_POSTGRES_UNEXPECTED_MESSAGE: "the server there is not PostgreSQL",
};

const away = (name: string, why: string, cause: unknown) =>
  new PaiError("store_away", `the store ${name} cannot be used now: ${why}`, {
    hint: "runs continue and report to it later; see: pai doctor",
    cause,
  });

function describeServerError(name: string, sqlState: string, message: string, cause: unknown): PaiError {
  if (passing.test(sqlState)) return away(name, message, cause);
  const misset = (why: string, hint: string) =>
    new PaiError("config_invalid", `the store ${name} ${why}: ${message}`, { hint, cause });
  if (/^28|^3D/.test(sqlState)) return misset("refuses this login", "see: pai config get store.url");
  if (sqlState === "42501")
    return misset("lacks a permission", "let the owner of the database run pai doctor once with this version of pai");
  return new PaiError("failed", `the store ${name} answers with an error: ${message}`, { cause });
}

function describeError(name: string, thrown: unknown): PaiError {
  if (thrown instanceof PaiError) return thrown;
  const { code = "", errno, message = String(thrown) } = thrown as { code?: string; errno?: string; message?: string };
  if (code === "ERR_POSTGRES_SERVER_ERROR") return describeServerError(name, String(errno ?? ""), message, thrown);
  if (/TLS|CERT|SSL|SIGNATURE|ISSUER/.test(code))
    return new PaiError("tls", `the store ${name} cannot be trusted: ${message}`, {
      hint: "name its certificate: store.url …?sslrootcert=FILE",
      cause: thrown,
    });
  return away(name, whys[code] ?? message, thrown);
}

function connect(address: StoreAddress, withinMs: number): SQL {
  const { host, port, database, user, password, socket, tls, ca } = address;
  const place = socket === null ? { hostname: host, port } : { path: `${socket}/.s.PGSQL.${port}` };
  const verified = { rejectUnauthorized: true, ...(ca !== null && { ca }) };
  return new SQL({
    adapter: "postgres",
    ...place,
    tls: tls === "verify" ? verified : tls,
    database,
    ...(user !== null && { username: user }),
    ...(password !== null && { password }),
    max: 1,
    prepare: false,
    connectionTimeout: Math.max(1, Math.ceil(withinMs / 1000)),
    idleTimeout: 30,
    connection: { application_name: "pai" },
  });
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const done = await waitAtMost(work, ms);
  if (done === "late") throw new Error(`no answer within ${ms} ms`);
  return done;
}

const migrationMs = 60_000;

/** Runs missing migrations. Throws config_invalid if a newer pai has migrated the database. */
async function prepare(sql: SQL, name: string, withinMs: number): Promise<void> {
  const newest = migrations.length;
  const versionNow = async (db: SQL) =>
    Number((await db.unsafe("select coalesce(max(version), 0) as version from pai.migrations"))[0]?.version);
  const look = async () => {
    const [found] = await sql.unsafe("select to_regclass('pai.migrations') is not null as made");
    return found?.made === true ? versionNow(sql) : 0;
  };
  const before = await within(withinMs, look());
  if (before > newest)
    throw new PaiError("config_invalid", `the store ${name} has layout ${before}, this pai knows ${newest} at most`, {
      hint: "a newer pai has made it: install that version here too",
    });
  if (before === newest) return;
  const make = async (db: SQL) => {
    await db.unsafe(`select pg_advisory_xact_lock(${migrationLock})`);
    await db.unsafe(foundation);
    for (let version = (await versionNow(db)) + 1; version <= newest; version += 1) {
      await db.unsafe(migrations[version - 1] ?? "");
      await db.unsafe("insert into pai.migrations (version, pai) values ($1, $2)", [version, ownVersion]);
    }
  };
  await within(migrationMs, sql.begin(make));
}

/** `withinMs`: for one statement. Opens nothing yet: the first statement connects, and one after a lost connection reconnects. */
export function openTeamStore(address: StoreAddress, withinMs: number) {
  const { name } = address;
  let sql: SQL | null = null;
  let ready: Promise<void> | null = null;
  /** Never throws; abandons statements under way. */
  const drop = async () => {
    const old = sql;
    sql = null;
    ready = null;
    await old?.close({ timeout: 0 }).catch(() => {});
  };
  return {
    name,
    /** The rows of one statement. Throws store_away where a retry may help; else tls, config_invalid or failed. */
    async query<T extends object>(text: string, values: readonly unknown[]): Promise<readonly T[]> {
      const db = sql ?? connect(address, withinMs);
      sql = db;
      ready ??= prepare(db, name, withinMs);
      try {
        await ready;
        return (await within(withinMs, db.unsafe(text, [...values]))) as readonly T[];
      } catch (thrown) {
        const error = describeError(name, thrown);
        // A connection that did not answer is in an unknown state, and a refused layout may be changed soon: connect
        // anew.
        if (error.code !== "failed" && sql === db) await drop();
        throw error;
      }
    },
    close: drop,
  };
}

export const migrations: readonly string[] = [runs, days, keyRests, sessions, evalQueue, held, cached, caps];

const foundation = `
  create schema if not exists pai;
  create table if not exists pai.migrations (
    version integer primary key, at timestamptz not null default now(), pai text not null
  );
  grant usage on schema pai to public;
  grant select on pai.migrations to public;
`;

/** Milliseconds before the store is asked again; rejects with the signal's reason once it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}

/** Advisory lock: machines that open a new database at the same time take turns. */
const migrationLock = 7_061_690_001;

const storable = (_: string, value: unknown): unknown =>
  typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\u{fffd}") : value;

/** The value as JSON, with U+FFFD for NUL and lone surrogates, which PostgreSQL refuses. */
export const storeJson = (value: object): string => JSON.stringify(value, storable);

export interface StoreAddress {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** null: PGUSER, else "postgres". */
  readonly user: string | null;
  readonly password: string | null;
  /** Folder of the server's unix socket; null: TCP. */
  readonly socket: string | null;
  /** `verify`: encrypted, with the server's certificate and name checked. */
  readonly tls: "disable" | "prefer" | "require" | "verify";
  /** Trusted certificates in PEM format; null: the built-in ones. */
  readonly ca: string | null;
}

const modes: Readonly<Record<string, StoreAddress["tls"]>> = {
  disable: "disable",
  allow: "prefer",
  prefer: "prefer",
  require: "require",
  "verify-ca": "verify",
  "verify-full": "verify",
};

/** Placeholder for a missing host, as in the address of a unix socket: a URL cannot have a user without a host. */
const nowhere = "nowhere.invalid";

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part) || null;
  } catch {
    throw refuse("has a % that is not an escape", "write %25 for a percent sign in a name or password");
  }
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

const refuse = (why: string, hint: string) => new PaiError("config_invalid", `store.url ${why}`, { hint });

function readTls(wanted: string | null, isLocal: boolean): StoreAddress["tls"] {
  const mode = wanted === null ? (isLocal ? "prefer" : "verify") : modes[wanted];
  if (mode === undefined) throw refuse(`has the unknown sslmode=${wanted}`, `one of ${Object.keys(modes).join(", ")}`);
  if (isLocal || mode === "verify") return mode;
  throw refuse(
    `has sslmode=${wanted}, and the server is another machine`,
    "leave sslmode out: connections over the network are always encrypted and verified (sslmode=verify-full)",
  );
}

function readCa(file: string | null): string | null {
  if (file === null) return null;
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new PaiError("config_invalid", `store.url names sslrootcert=${file}, which cannot be read`, { cause });
  }
}

function readPlace({ hostname, port: written, searchParams }: URL) {
  const socket = searchParams.get("host");
  const way = "name the server before the path: postgres://HOST/NAME";
  if (socket !== null && !isAbsolute(socket)) throw refuse("has a host= that is not the folder of a unix socket", way);
  if (socket === null && hostname === nowhere)
    throw refuse("does not name a server", "such as postgres://ana@db.example.com/pai");
  const port = Number((socket === null ? null : searchParams.get("port")) ?? (written || "5432"));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw refuse("has an invalid port", "such as 5432");
  return { host: hostname.replace(/^\[|\]$/g, ""), port, socket };
}

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…&sslrootcert=FILE`; `?host=/folder` is a unix socket. Over
 * the network the certificate is always verified. Throws config_invalid.
 */
export function readAddress(text: string): StoreAddress {
  const named = text.replace(/^(\w+:\/\/(?:[^/?#@]*@)?)(?=[/?]|$)/, `$1${nowhere}`);
  const url = URL.canParse(named) ? new URL(named) : null;
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw refuse("must be a URL that begins with postgres://", "such as postgres://ana@db.example.com/pai");
  const place = readPlace(url);
  const { socket, port } = place;
  const database = decode(url.pathname.replace(/^\//, "")) ?? "postgres";
  return {
    ...place,
    name: `${socket === null ? `${url.hostname}:${port}` : `${socket} (port ${port})`}/${database}`,
    database,
    user: decode(url.username),
    password: decode(url.password),
    tls: readTls(url.searchParams.get("sslmode"), socket !== null || isLoopback(url.hostname)),
    ca: readCa(url.searchParams.get("sslrootcert")),
  };
}
