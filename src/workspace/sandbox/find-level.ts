/** Finds the best way to confine commands by trying each, and makes the folders that hold the changes of a command. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { orNull, PaiError } from "../../core/error.ts";
import { entryAt, namesOf } from "../../system/lookups.ts";
import { hasBubblewrap } from "./bubblewrap.ts";
import { type Confinement, isIsolated, type Way } from "./confinement.ts";
import { findLandlock } from "./memory-file.ts";
import { findReason } from "./reasons.ts";
import { type CallOptions, currentFolder, datagram, type Label, openFlags, type Tape } from "./tape.ts";
import { enterProgram, launch, type SetupFailure } from "./write-tape.ts";

export interface FoundLevel {
  readonly way: Way | null;
  readonly userNamespace: boolean;
  readonly caches: boolean;
  readonly asFile: boolean;
  readonly overlay: boolean;
  readonly scratch: string;
  /** Version of Landlock; 0: none. */
  readonly landlock: number;
  readonly reasons: readonly string[];
}

interface LevelSearch {
  readonly isRoot: boolean;
  readonly workspaceFd: number;
  readonly scratches: readonly [string, ...string[]];
  /** For tests: only this way. */
  readonly only: Way | undefined;
  readonly confine: (found: FoundLevel, way: Way, layers: Layers | null) => Confinement;
}

export const foundNothing = (...reasons: readonly string[]): FoundLevel => ({
  way: null,
  userNamespace: false,
  caches: false,
  asFile: false,
  overlay: false,
  scratch: "",
  landlock: 0,
  reasons,
});

export async function findLevel(search: LevelSearch): Promise<FoundLevel> {
  const { version: landlock, errno } = findLandlock();
  const [scratch] = search.scratches;
  const allowed = { userNamespace: !search.isRoot, caches: true, overlay: true, scratch };
  const all: FoundLevel = { ...foundNothing(), ...allowed, landlock };
  const failures: Failure[] = [];
  for (const way of search.only === undefined ? waysToTry() : [search.only]) {
    if (way === "landlock" && errno !== null) failures.push(failureOf(way, { step: "landlock_create_ruleset", errno }));
    else {
      const { found, missing } = await tryWay(search, way, { ...all, landlock: landlockFor(way, landlock) });
      failures.push(...missing);
      if (found !== null) return { ...found, reasons: tellAll(failures) };
    }
  }
  return { ...foundNothing(...tellAll(failures)), landlock };
}

/** Landlock 1 (Linux 5.13 to 5.18) forbids moving files between folders. Ways with own mounts do without it. */
const landlockFor = (way: Way, version: number): number => (isIsolated(way) && version === 1 ? 0 : version);

function waysToTry(): readonly Way[] {
  return ["namespaces", ...(hasBubblewrap() ? (["bubblewrap"] as const) : []), "landlock"];
}

type Failure = ReturnType<typeof failureOf>;

const failureOf = (way: Way, failure: SetupFailure) => ({ way, ...findReason(failure) });

const names: Readonly<Record<Way, string>> = {
  namespaces: "full",
  bubblewrap: "full, by bubblewrap",
  landlock: "writes",
};

/** A remedy for several failures is named only once. */
function tellAll(failures: readonly Failure[]): readonly string[] {
  const named = new Set<string>();
  return failures.map(({ way, why, mend }) => {
    const isNew = mend !== null && !named.has(mend);
    if (isNew) named.add(mend);
    return `${names[way]}: ${why}${isNew ? `; ${mend}` : ""}`;
  });
}

async function tryWay(search: LevelSearch, way: Way, all: FoundLevel) {
  const missing: Failure[] = [];
  let found = all;
  for (;;) {
    const result = await tryOnce(search, found, way);
    if (result === null) return { found: { ...found, way }, missing };
    const last = "leak" in result ? { way, why: result.leak, mend: null } : failureOf(way, result);
    const less = "leak" in result ? null : withLess(found, way, result.step, search);
    if (less === null) return { found: null, missing: [last] };
    if (way === "namespaces" && less.scratch === found.scratch) missing.push(last);
    found = less;
  }
}

const layersFailed = "overlay of the workspace";

/** Without the optional part that failed; null: it is not optional. */
function withLess(found: FoundLevel, way: Way, step: string, { isRoot, scratches }: LevelSearch): FoundLevel | null {
  if (way === "bubblewrap") return step === "bubblewrap" && !found.asFile ? { ...found, asFile: true } : null;
  if (way !== "namespaces") return null;
  if (found.overlay && step.startsWith("overlay")) {
    const next = step === layersFailed ? scratches[scratches.indexOf(found.scratch) + 1] : undefined;
    return next === undefined ? { ...found, overlay: false } : { ...found, scratch: next };
  }
  if (found.caches && /^(cache|room for caches)/.test(step)) return { ...found, caches: false };
  if (isRoot && !found.userNamespace && step === "unshare") return { ...found, userNamespace: true };
  return null;
}

async function tryOnce({ workspaceFd, confine }: LevelSearch, found: FoundLevel, way: Way): Promise<Probed> {
  let layers: Layers | null;
  try {
    layers = way === "namespaces" && found.overlay ? makeLayers(found.scratch) : null;
  } catch (thrown) {
    const { code = "EIO" } = thrown as NodeJS.ErrnoException;
    return { step: layersFailed, errno: code };
  }
  try {
    return await probe(confine(found, way, layers), workspaceFd);
  } finally {
    if (layers !== null) removeLayers(layers);
  }
}

/** null: it holds. `leak`: something succeeded that must not. */
type Probed = SetupFailure | { readonly leak: string } | null;

const leaks = new Map([
  [101, "a file outside could be written"],
  [102, "the network could be reached"],
  [103, "pai's own environment could be read"],
]);
const findInterface = 0x8933;

/** Sets a level up and tries to break out of it. */
export async function probe(confinement: Confinement, workspaceFd: number): Promise<Probed> {
  // Not in pai's state folder, which is hidden from commands.
  const folder = makeScratch(tmpdir(), "probe");
  const [inside, outside] = [join(folder, "inside"), join(folder, "outside")];
  for (const each of [inside, outside, join(inside, "closed"), join(inside, "fixed"), join(inside, "fixed/kept")])
    mkdirSync(each);
  writeFileSync(join(inside, "secret"), "");
  try {
    const tried: Confinement = {
      ...confinement,
      writable: [...confinement.writable, inside],
      hidden: [
        { path: join(inside, "secret"), isFolder: false },
        { path: join(inside, "closed"), isFolder: true },
      ],
      readOnly: [join(inside, "fixed/kept")],
      fixed: [join(inside, "fixed")],
    };
    const body = (tape: Tape) => {
      enterProgram(tape, tried, true);
      addAttempts(tape, tried, inside, outside);
    };
    const stderr = tried.way === "bubblewrap" ? "pipe" : "ignore";
    const { child, output, finish } = launch(tried, body, { workspaceFd, stdin: "ignore", stderr });
    const said = typeof child.stderr === "object" ? new Response(child.stderr).text() : "";
    await child.exited;
    output.close();
    const failure = finish();
    if (failure?.step === "bubblewrap") return { ...failure, said: lastLine(await said) };
    return failure ?? judge(child.exitCode ?? 0, inside, outside);
  } catch (thrown) {
    const { code = "EIO", step = "start" } = thrown as NodeJS.ErrnoException & { readonly step?: string };
    return { step, errno: code };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(exit: number, inside: string, outside: string): Probed {
  const leak = leaks.get(exit === 0 && existsSync(join(outside, "file")) ? 101 : exit);
  if (leak !== undefined) return { leak };
  if (exit !== 0) return { step: "the probe", errno: `${exit}` };
  return existsSync(join(inside, "file")) ? null : { step: "write in the workspace", errno: "ENOENT" };
}

const maxSaid = 200;

const lastLine = (text: string): string =>
  (text.trim().split("\n").at(-1) ?? "").replace(/^bwrap: /, "").slice(0, maxSaid);

/** For an interface of the host; null: there is only the loopback. */
function interfaceRequest(): Uint8Array | null {
  const name = namesOf("/sys/class/net").find((each) => each !== "lo" && each.length < 16);
  if (name === undefined) return null;
  const request = Buffer.alloc(40);
  request.write(name);
  return request;
}

function addAttempts(tape: Tape, { network }: Confinement, inside: string, outside: string): void {
  const create = openFlags.write | openFlags.create | openFlags.closeOnExec;
  const exit = (code: number) => tape.call("exit_group", [code]);
  const [wrote, read]: [Label, Label] = [{ record: null }, { record: null }];
  const open = (path: string, flags: number, options: CallOptions) =>
    tape.call("openat", [currentFolder, tape.text(path), flags, 0o600], options);
  open(join(outside, "file"), create, { onError: "next", onPositive: wrote });
  open(`/proc/${process.pid}/environ`, 0, { onError: "next", onPositive: read });
  open(join(inside, "file"), create, { note: "write in the workspace" });
  const wire = interfaceRequest();
  if (!network) {
    const safe: Label = { record: null };
    const socket = tape.call("socket", [datagram.family, datagram.type, 0], { onError: safe });
    // Sends nothing: if an interface of the host can be addressed, its network can be reached.
    if (wire === null) exit(0);
    else tape.call("ioctl", [socket, findInterface, tape.bytes(wire)], { onError: safe });
    exit(102);
    tape.mark(safe);
  }
  exit(0);
  tape.mark(wrote);
  exit(101);
  tape.mark(read);
  exit(103);
}

export type Layers = Readonly<ReturnType<typeof makeLayers>>;

/** Its name contains the id of this process. */
export function makeScratch(parent: string, what: "layers" | "probe" | "tmp"): string {
  try {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    return mkdtempSync(join(parent, `pai-${what}-${process.pid}-`));
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    const isFile = code === "EEXIST" || code === "ENOTDIR";
    if (!isFile && code !== "EROFS" && code !== "EACCES") throw thrown;
    const why = isFile ? `${parent} is not a folder` : `nothing can be written in ${parent}`;
    const hint = "TMPDIR names a folder for temporary files, XDG_STATE_HOME one for pai's own";
    throw new PaiError(code === "EROFS" ? "read_only" : "permission_denied", why, { hint });
  }
}

/** In a folder of their own; `work` is used by the kernel. */
export function makeLayers(scratch: string) {
  const folder = makeScratch(scratch, "layers");
  const layers = { upper: join(folder, "upper"), work: join(folder, "work") };
  mkdirSync(layers.upper);
  mkdirSync(layers.work);
  return layers;
}

/** Even folders without permissions, as the kernel and commands leave them. */
export function removeLayers({ work }: Layers): void {
  // It fails if the overlay was never mounted.
  orNull(() => chmodSync(join(work, "work"), 0o700));
  removeTree(dirname(work));
}

/** Of killed processes. What cannot be removed is left to the next time. */
export function sweepScratch(scratch: string): void {
  for (const name of namesOf(scratch)) {
    const owner = /^pai-(?:layers|probe|tmp)-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || isRunning(Number(owner))) continue;
    const path = join(scratch, name);
    if (entryAt(path)?.uid === process.getuid?.()) orNull(() => removeTree(path));
  }
}

/** Even where its owner has no permissions or a path is too long for one call. Throws when something stays. */
export function removeTree(top: string): void {
  try {
    rmSync(top, { recursive: true, force: true });
  } catch {
    // Folders alone: a file may have another name outside of the tree.
    const open = ["-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";"];
    Bun.spawnSync(["find", top, ...open], { stdio: ["ignore", "ignore", "ignore"] });
    const { exitCode, stderr } = Bun.spawnSync(["/bin/rm", "-rf", top], { stderr: "pipe" });
    if (exitCode !== 0) throw new PaiError("io_failed", `${top} cannot be removed: ${stderr.toString().slice(0, 200)}`);
  }
}

/** A later process with the same id counts, too. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}
