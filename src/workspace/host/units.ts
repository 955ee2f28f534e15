/** Units of systemd, from their files and what it keeps in /run and in the cgroups, without asking it anything. */

import { readlinkSync } from "node:fs";
import { orNull } from "../../core/error.ts";
import { fieldsOf, type HostFiles, plainName, spellBytes, tableOf } from "./host.ts";

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

/** What systemd holds of a unit: its processes in the cgroup, or that it has been started since the machine was. */
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
export function renderUnits(host: HostFiles, filter: string): string {
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
  if (found.length === 0)
    return [
      ...head,
      filter === ""
        ? `${all.length} unit files, none enabled`
        : `no unit file with ${plainName(filter, 60)} in its name, of ${all.length}`,
    ].join("\n");
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
