/** Processes and memory of the machine, from /proc: what runs, whose it is, and how much it takes. Never an environment. */

import { alignRows } from "../../core/text.ts";
import { fieldsOf, type HostFiles, plainName, spellAge, spellBytes, tableOf } from "./host.ts";

type ProcessFacts = ReturnType<typeof readProcesses>[number];

const maxProgram = 40;
const maxArguments = 300;
const maxGroups = 30;
const maxSingle = 60;
const ticksPerSecond = 100;

export function readProcesses(host: HostFiles) {
  const up = Number(host.read("/proc/uptime").split(" ")[0] ?? 0);
  return pidsOf(host).flatMap((pid) => {
    const fields = fieldsOf(host.read(`/proc/${pid}/status`));
    if (!fields.has("Uid")) return [];
    const stat = host.read(`/proc/${pid}/stat`);
    // A name may hold blanks, brackets and line feeds.
    const text = stat.slice(stat.lastIndexOf(")") + 2);
    const rest = text.split(" ").map(Number);
    const ticks = (rest[11] ?? 0) + (rest[12] ?? 0);
    return {
      pid,
      parent: Number(fields.get("PPid") ?? 0),
      program: plainName(fields.get("Name") ?? "", maxProgram),
      user: host.userOf(Number(fields.get("Uid")?.split(/\s/)[0])),
      state: fields.get("State")?.charAt(0) ?? "?",
      memory: Number.parseInt(fields.get("VmRSS") ?? "0", 10) * 1024,
      /** Seconds of processor time since its start, and since when it runs. */
      worked: ticks / ticksPerSecond,
      age: Math.max(0, up - (rest[19] ?? 0) / ticksPerSecond),
    };
  });
}

export const pidsOf = (host: HostFiles): readonly number[] =>
  (host.list("/proc") ?? [])
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);

/** Says that others' processes are not seen; empty: all are. */
export function tellHidden(host: HostFiles): readonly string[] {
  const isHidden = / \/proc proc \S*hidepid=(?:1|2|noaccess|invisible)/.test(host.read("/proc/self/mounts"));
  const seesFirst = host.read("/proc/1/status") !== "";
  return isHidden && !seesFirst ? ["(processes of other users are hidden here: /proc is mounted with hidepid)"] : [];
}

function argumentsOf(host: HostFiles, pid: number): string {
  const all = host.read(`/proc/${pid}/cmdline`).replace(/\0+$/, "");
  return plainName(all.slice(0, 4 * maxArguments).replaceAll("\0", " "), maxArguments);
}

const percent = ({ worked, age }: { readonly worked: number; readonly age: number }): string =>
  `${((100 * worked) / Math.max(age, 1)).toFixed(1)} %`;

const some = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** Programs with their users, those that take most memory first; with a filter each process that it fits. */
export function renderProcesses(host: HostFiles, filter: string): string {
  const all = readProcesses(host);
  const found = all.filter((each) => fits(each, filter));
  const load = host.read("/proc/loadavg").split(" ").slice(0, 3).join(" ");
  const dead = all.filter(({ state }) => state === "Z").length;
  const users = new Set(all.map(({ user }) => user)).size;
  const zombies = dead > 0 ? `, ${some(dead, "zombie")}` : "";
  const head = `${some(all.length, "process", "processes")} of ${some(users, "user")}, load ${load}${zombies}`;
  const rows = filter === "" ? groupRows(host, found) : singleRows(host, found);
  const none = `no process with the name, user or number ${plainName(filter, 60)}`;
  return [head, ...(found.length === 0 ? [none] : rows), ...tellHidden(host)].join("\n");
}

const fits = ({ pid, program, user }: ProcessFacts, filter: string): boolean =>
  String(pid) === filter || user === filter || program.toLowerCase().includes(filter.toLowerCase());

/** Threads of the kernel are below its second process. */
const isOfKernel = ({ pid, parent, memory }: ProcessFacts): boolean => memory === 0 && (pid === 2 || parent === 2);

function singleRows(host: HostFiles, found: readonly ProcessFacts[]): readonly string[] {
  const head = ["pid", "parent", "user", "state", "memory", "cpu", "age", "program"];
  const largest = found.toSorted((a, b) => b.memory - a.memory);
  return tableOf(head, largest, maxSingle, (each) => [
    String(each.pid),
    String(each.parent),
    each.user,
    each.state,
    spellBytes(each.memory),
    percent(each),
    spellAge(each.age),
    each.program + (host.showsArguments ? `: ${argumentsOf(host, each.pid)}` : ""),
  ]);
}

function groupRows(host: HostFiles, found: readonly ProcessFacts[]): readonly string[] {
  const kernel = found.filter(isOfKernel).length;
  const programs = found.filter((each) => !isOfKernel(each));
  const groups = [...Map.groupBy(programs, ({ user, program }) => `${user}\0${program}`).values()]
    .map((group) => ({ group, memory: group.reduce((sum, { memory }) => sum + memory, 0) }))
    .sort((a, b) => b.memory - a.memory);
  const shown = groups.slice(0, maxGroups);
  const rows = shown.map(({ group, memory }) => {
    const first = group[0] as ProcessFacts;
    const worked = group.reduce((sum, each) => sum + each.worked, 0);
    const age = Math.max(...group.map((each) => each.age));
    const pids = group.slice(0, 4).map(({ pid }) => pid);
    const program = first.program + (host.showsArguments ? `: ${argumentsOf(host, first.pid)}` : "");
    const numbers = [spellBytes(memory), percent({ worked, age }), spellAge(age)];
    return [first.user, String(group.length), ...numbers, `${pids.join(" ")}${group.length > 4 ? " …" : ""}`, program];
  });
  const more = groups.length - shown.length;
  const note = [
    ...(more > 0 ? [`(${more} more programs; a name, user or number shows those it fits)`] : []),
    ...(kernel > 0 ? [`(${kernel} threads of the kernel not shown)`] : []),
  ];
  return [...alignRows([["user", "n", "memory", "cpu", "age", "pids", "program"], ...rows]), ...note];
}

export function renderMemory(host: HostFiles, filter: string): string {
  const meminfo = fieldsOf(host.read("/proc/meminfo"));
  const of = (key: string) => spellBytes(Number.parseInt(meminfo.get(key) ?? "0", 10) * 1024);
  const killed = fieldsOf(host.read("/proc/vmstat").replaceAll(" ", "=")).get("oom_kill") ?? "0";
  const ended = some(Number(killed), "process", "processes");
  const limit = host.read("/sys/fs/cgroup/memory.max").trim();
  const lines = [
    `memory: ${of("MemAvailable")} available of ${of("MemTotal")}; cached ${of("Cached")}, dirty ${of("Dirty")}, shared ${of("Shmem")}`,
    `swap: ${of("SwapFree")} free of ${of("SwapTotal")}`,
    ...(/^\d+$/.test(limit) ? [`this session may take ${spellBytes(Number(limit))}`] : []),
    ...(killed === "0" ? [] : [`the kernel has ended ${ended} for want of memory since its start`]),
  ];
  return [...lines, ...renderProcesses(host, filter).split("\n").slice(0, 17)].join("\n");
}
