/** Looks at the machine that pai itself takes from its files, without a shell and without changing anything. */

import { readlinkSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { alignRows } from "../../core/text.ts";
import { readMountTable, renderDisk } from "./disk-use.ts";
import { fieldsOf, type HostFiles, openHostFiles, plainName, spellAge, spellBytes, tableOf } from "./host.ts";
import { renderPorts } from "./ports.ts";
import { renderMemory, renderProcesses } from "./processes.ts";

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

/** Where unit files are, the first that has a name wins. */
const folders = [
  "/etc/systemd/system",
  "/run/systemd/system",
  "/usr/local/lib/systemd/system",
  "/usr/lib/systemd/system",
  "/lib/systemd/system",
];
const wanted = /\.(?:service|timer|socket|mount|path|target)$/;
const maxUnits = 80;
/** Settings that are shown of a unit; none of them holds an environment. */
const told =
  /^(?:Description|Type|ExecStart(?:Pre|Post)?|ExecReload|ExecStop|User|Group|Restart|RestartSec|WorkingDirectory|PIDFile|OnCalendar|OnBootSec|OnUnitActiveSec|Listen\w+|WantedBy|After|Requires|ConditionPathExists)=/;

function findUnits(host: HostFiles): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const folder of folders)
    for (const name of host.list(folder) ?? []) if (wanted.test(name) && !found.has(name)) found.set(name, folder);
  return found;
}

const findEnabled = (host: HostFiles): ReadonlySet<string> =>
  new Set(
    [...folders.slice(0, 2), "/usr/lib/systemd/system"].flatMap((folder) =>
      (host.list(folder) ?? [])
        .filter((name) => /\.(?:wants|requires)$/.test(name))
        .flatMap((name) => host.list(`${folder}/${name}`) ?? []),
    ),
  );

const isMasked = (host: HostFiles, path: string): boolean => orNull(() => readlinkSync(host.at(path))) === "/dev/null";

/**
 * What systemd, which is not asked, holds of a unit: its processes in the cgroup, or that it has been started since the
 * machine was.
 */
function stateOf(host: HostFiles, name: string, started: ReadonlySet<string>): string {
  const group = `/sys/fs/cgroup/system.slice/${name}`;
  const pids = host.read(`${group}/cgroup.procs`).split("\n").filter(Boolean);
  const nested = fieldsOf(host.read(`${group}/cgroup.events`).replaceAll(" ", "=")).get("populated") === "1";
  const memory = Number(host.read(`${group}/memory.current`));
  if (pids.length > 0 || nested)
    return `runs${pids.length > 0 ? ` (pid ${pids.slice(0, 3).join(" ")})` : ""}${memory > 0 ? ` ${spellBytes(memory)}` : ""}`;
  return started.has(name) ? "was started, no process now" : "no process";
}

/** With a filter the units whose names hold it, and of at most three their settings. */
function renderUnits(host: HostFiles, filter: string): string {
  const init = plainName(host.read("/proc/1/comm").trim(), 40) || "unknown";
  const isUp = host.list("/run/systemd/system") !== null;
  const head = isUp ? [] : [`systemd does not run here: the first process is ${init}; this is what its files say`];
  const enabled = findEnabled(host);
  const started = new Set((host.list("/run/systemd/units") ?? []).map((name) => name.replace(/^invocation:/, "")));
  const units = findUnits(host);
  const all = [...units.keys()].sort();
  const found = all.filter((name) =>
    filter === "" ? enabled.has(name) || started.has(name) : name.toLowerCase().includes(filter.toLowerCase()),
  );
  if (found.length === 0) {
    const none = `no unit file with ${plainName(filter, 60)} in its name, of ${all.length}`;
    return [...head, filter === "" ? `${all.length} unit files, none enabled` : none].join("\n");
  }
  const rowOf = (name: string) => {
    const folder = units.get(name) ?? "";
    const isOn = isMasked(host, `${folder}/${name}`) ? "masked" : enabled.has(name) ? "enabled" : "not enabled";
    return [plainName(name, 60), isOn, isUp ? stateOf(host, name, started) : "", folder];
  };
  return [
    ...head,
    ...tableOf(["unit", "at start", "now", "file in"], found, maxUnits, rowOf),
    ...(filter !== "" && found.length <= 3
      ? found.flatMap((name) => settingsOf(host, `${units.get(name)}/${name}`))
      : []),
    ...(isUp ? ["(whether a unit without a process failed only systemctl status tells, and why the journal)"] : []),
  ].join("\n");
}

function settingsOf(host: HostFiles, path: string): readonly string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const drops = folders
    .slice(0, 2)
    .flatMap((folder) => (host.list(`${folder}/${name}.d`) ?? []).map((file) => `${folder}/${name}.d/${file}`));
  return [path, ...drops].flatMap((file) => {
    const lines = host
      .read(file)
      .split("\n")
      .filter((line) => told.test(line));
    return [`${plainName(file, 200)}:`, ...lines.slice(0, 40).map((line) => `  ${plainName(line, 300)}`)];
  });
}
