/** The address of a team's database, and how its connection is secured. */
import { readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { PaiError } from "../../core/error.ts";

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
  readonly tls: "off" | "prefer" | "require" | "verify";
  /** Trusted certificates in PEM format; null: the built-in ones. */
  readonly ca: string | null;
}

const modes: Readonly<Record<string, StoreAddress["tls"]>> = {
  disable: "off",
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
