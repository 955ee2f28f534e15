/** Ports that somebody listens on, from /proc/net, each with the process that holds it and its user. */

import { readlinkSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { type HostFiles, openHostFiles, plainName, tableOf } from "./host.ts";
import { pidsOf, readProcesses, tellHidden } from "./processes.ts";

const listening: Readonly<Record<string, string>> = { tcp: "0A", tcp6: "0A", udp: "07", udp6: "07" };
const connected = "01";
const maxPorts = 200;

/** An address in the hexadecimal words of /proc/net, each in the byte order of the machine. */
export function readSocketAddress(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, "hex")].reverse());
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255) return bytes.slice(12).join(".");
  const words = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${words.join(":")}]`).hostname;
}

function readSockets(host: HostFiles) {
  const open: { protocol: string; address: string; port: number; user: string; inode: string }[] = [];
  const used = new Map<number, number>();
  for (const [protocol, wanted] of Object.entries(listening)) {
    for (const line of host.read(`/proc/net/${protocol}`).split("\n").slice(1)) {
      const [, local = "", , state = "", , , , uid = "", , inode = ""] = line.trim().split(/\s+/);
      const [address = "", port = ""] = local.split(":");
      const number = Number.parseInt(port, 16);
      const user = host.userOf(Number(uid));
      if (state === wanted) open.push({ protocol, address: readSocketAddress(address), port: number, user, inode });
      else if (state === connected) used.set(number, (used.get(number) ?? 0) + 1);
    }
  }
  return { open, used };
}

function findHolders(host: HostFiles, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const pid of pidsOf(host)) {
    if (found.size === wanted.size) break;
    for (const fd of host.list(`/proc/${pid}/fd`) ?? []) {
      const inode = socketAt(host.at(`/proc/${pid}/fd/${fd}`));
      if (inode !== null && wanted.has(inode) && !found.has(inode)) found.set(inode, pid);
    }
  }
  return found;
}

const socketAt = (path: string): string | null =>
  /^socket:\[(\d+)\]$/.exec(orNull(() => readlinkSync(path)) ?? "")?.[1] ?? null;

/** Addresses that take connections to 127.0.0.1, exact ones before those that take all. */
const loopback = ["127.0.0.1", "0.0.0.0", "[::]"];

/** Who listens on a port of loopback: "ada (ollama, pid 7)"; null: nobody is known to. */
export function whoListens(port: number, host: HostFiles = openHostFiles("", false)): string | null {
  const open = readSockets(host).open.filter((each) => each.port === port && each.protocol.startsWith("tcp"));
  const found = loopback.flatMap((address) => open.find((each) => each.address === address) ?? [])[0];
  if (found === undefined) return null;
  const pid = findHolders(host, new Set([found.inode])).get(found.inode);
  const program = plainName(host.read(`/proc/${pid}/comm`).trim(), 40);
  return pid === undefined ? found.user : `${found.user} (${program}, pid ${pid})`;
}

/** With a filter those that have this number, program, user or address. */
export function renderPorts(host: HostFiles, filter: string): string {
  const { open, used } = readSockets(host);
  const holders = findHolders(host, new Set(open.map(({ inode }) => inode)));
  const programs = new Map(readProcesses(host).map(({ pid, program }) => [pid, program] as const));
  const all = open.map((each) => {
    const pid = holders.get(each.inode);
    return { ...each, pid, program: pid === undefined ? "?" : (programs.get(pid) ?? "?") };
  });
  const fits = ({ port, program, user, address, protocol }: (typeof all)[number]) =>
    [String(port), user, address, protocol].includes(filter) || program.toLowerCase().includes(filter.toLowerCase());
  const found = all.filter((each) => filter === "" || fits(each)).sort((a, b) => a.port - b.port);
  if (found.length === 0) {
    const what = filter === "" ? "nothing listens on any port" : `nothing listens that fits ${plainName(filter, 60)}`;
    return [`${what}, of ${open.length} open ports`, ...tellHidden(host)].join("\n");
  }
  const head = ["kind", "address", "user", "pid", "connections", "program"];
  const rowOf = ({ protocol, address, port, user, pid, program }: (typeof all)[number]) => {
    const connections = protocol.startsWith("tcp") ? String(used.get(port) ?? 0) : "-";
    return [protocol.replace("6", ""), `${address}:${port}`, user, String(pid ?? "-"), connections, program];
  };
  const unknown = found.filter(({ pid }) => pid === undefined).length;
  const note = `(of ${unknown} the process is not known: it is another user's, which root would see, or the kernel's)`;
  return [...tableOf(head, found, maxPorts, rowOf), ...(unknown > 0 ? [note] : [])].join("\n");
}
