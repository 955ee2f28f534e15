/** Looks at the machine that pai itself takes from its files, without a shell and without changing anything. */

import { alignRows } from "../../core/text.ts";
import { readMountTable, renderDisk } from "./disk-use.ts";
import { fieldsOf, type HostFiles, openHostFiles, plainName, spellAge, tableOf } from "./host.ts";
import { renderPorts } from "./ports.ts";
import { renderMemory, renderProcesses } from "./processes.ts";
import { renderUnits } from "./units.ts";

type Render = (host: HostFiles, filter: string, signal?: AbortSignal) => string | Promise<string>;

/** What models call the looks, each with its own name first. */
const topics: readonly (readonly [RegExp, Render])[] = [
  [/^(?:process(?:es)?|procs?|ps|top|cpu|load)$/, renderProcesses],
  [/^(?:ports?|sockets?|listen(?:ing|ers?)?|ss|netstat)$/, renderPorts],
  [/^(?:disks?|df|du|space|storage|folders?)$/, renderDisk],
  [/^(?:memory|mem|ram|swap|free)$/, renderMemory],
  [/^(?:units?|services?|systemd|systemctl|timers?)$/, renderUnits],
  [/^(?:mounts?)$/, renderMounts],
  [/^(?:users?|who|logins?|sessions?|accounts?)$/, renderUsers],
];

/**
 * `asked`: "ports 18999", "disk /var"; without a topic a number is a port, another word a program, a user or a unit, and
 * nothing at all everything in short. Text of the machine, so secrets in it are not hidden yet.
 */
export async function lookAtHost(host: HostFiles, asked: string, signal?: AbortSignal): Promise<string> {
  const [word = "", ...rest] = asked.trim().split(/[\s:,]+/);
  const render = topics.find(([names]) => names.test(word.toLowerCase()))?.[1];
  const filter = rest.filter((each) => !/^(?:of|for|on|by|in|all|any|used|use|usage)$/i.test(each)).join(" ");
  if (render !== undefined) return render(host, filter, signal);
  if (/^\d+$/.test(word)) return renderPorts(host, word);
  if (word.startsWith("/")) return renderDisk(host, word, signal);
  const parts = [renderProcesses(host, asked.trim()), renderPorts(host, asked.trim())];
  if (word !== "") parts.push(renderUnits(host, asked.trim()));
  return parts.join("\n\n");
}

export const lookAtMachine = (showsArguments: boolean, asked: string, signal?: AbortSignal): Promise<string> =>
  lookAtHost(openHostFiles("", showsArguments), asked, signal);

/** Mounts with their options; with a filter also those that the kernel only makes up. */
function renderMounts(host: HostFiles, filter: string): string {
  const found = readMountTable(host, filter !== "").filter(
    ({ device, point, type }) => filter === "" || [device, point, type].some((each) => each.includes(filter)),
  );
  if (found.length === 0) return `no mount fits ${plainName(filter, 60)}`;
  return tableOf(["place", "type", "from", "options"], found, 100, ({ device, point, type, options }) => [
    plainName(point, 100),
    type,
    plainName(device, 100),
    plainName(options, 200),
  ]).join("\n");
}

const shells = /(?:^|\/)(?:ba|da|z|fi|k|tc|c)?sh$/;
const strongGroups = new Set(["root", "sudo", "wheel", "adm", "admin", "docker", "lxd", "libvirt"]);

/** Who is logged in, who could log in, and who may become root. */
function renderUsers(host: HostFiles, filter: string): string {
  const sessions = (host.list("/run/systemd/sessions") ?? [])
    .filter((name) => !name.endsWith(".ref"))
    .map((name) => {
      const fields = fieldsOf(host.read(`/run/systemd/sessions/${name}`));
      const of = (key: string) => plainName(fields.get(key) ?? "", 60);
      const from = of("REMOTE_HOST") === "" ? "" : ` from ${of("REMOTE_HOST")}`;
      const began = Number(fields.get("REALTIME") ?? 0) / 1_000_000;
      const since = began > 0 ? `, since ${spellAge(Date.now() / 1000 - began)}` : "";
      return { user: of("USER"), text: `${of("USER")} ${of("TTY") || of("SERVICE")}${from}${since}` };
    });
  const accounts = host
    .read("/etc/passwd")
    .split("\n")
    .flatMap((line) => {
      const [user = "", , uid = "", , , home = "", shell = ""] = line.split(":");
      return shells.test(shell) ? [{ user, uid, home, shell }] : [];
    });
  const groups = host
    .read("/etc/group")
    .split("\n")
    .flatMap((line) => {
      const [name = "", , , members = ""] = line.split(":");
      return strongGroups.has(name) && members !== "" ? [`${name}: ${plainName(members, 200)}`] : [];
    });
  const fits = (user: string) => filter === "" || user.includes(filter);
  const logged = sessions.filter(({ user }) => fits(user)).map(({ text }) => text);
  const rows = accounts.filter(({ user }) => fits(user)).slice(0, 60);
  return [
    `logged in: ${logged.length === 0 ? "nobody that systemd knows of" : ""}`.trim(),
    ...logged,
    "accounts with a shell:",
    ...alignRows(rows.map(({ user, uid, home, shell }) => [user, uid, home, shell].map((each) => plainName(each, 80)))),
    ...groups.filter((line) => filter === "" || line.includes(filter)),
  ].join("\n");
}
