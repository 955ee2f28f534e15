/** Opens a workspace: combines its reading and its writing half, and undoes what an earlier run left half-done. */

import { resolve } from "node:path";
import { atFirstUse } from "../core/at-first-use.ts";
import type { Blob, Change } from "../core/change.ts";
import { judgeNames, mayMerge, type PathRules, placeOf, whyJudged } from "../core/closed-names.ts";
import { spellAllow } from "../core/command/quote.ts";
import { orNull, PaiError } from "../core/error.ts";
import { type PathUse, pathWithin, type RelPath } from "../core/path.ts";
import type { View, Workspace } from "../core/ports.ts";
import { pathOutside, realPathOf } from "../system/lookups.ts";
import { requireAllowable, requireWritable, whyNotOwn } from "./allowable.ts";
import { namesIn } from "./atomic-write.ts";
import { commandEnv, type Env } from "./command/command-env.ts";
import { findOwnProgram, runAfter } from "./command/run-after.ts";
import { openPerform, type Perform } from "./command/run-command.ts";
import { startTool, type ToolProgram } from "./command/start-tool.ts";
import { openRoot, type Root } from "./confine.ts";
import { openSurvey } from "./context/survey.ts";
import { watchOthers } from "./effects/others.ts";
import { findTop } from "./git/find-repository.ts";
import { describeRepository } from "./git/git-state.ts";
import { prepareCommit, requireRepository } from "./git/prepare-commit.ts";
import { openIds, openJournal, openRootLock, openState, openStateLock, requireRoom } from "./journal/journal.ts";
import { recover } from "./journal/recover.ts";
import { openHistory } from "./journal/run-history.ts";
import { findShown, type Outside, parseOutside, topOf } from "./outside.ts";
import { realFolders } from "./own-files.ts";
import { lostOwner } from "./owners.ts";
import { parsePath, showName } from "./parse-path.ts";
import { denyBelow, findRepositoryShape, judgePath } from "./path-policy.ts";
import { defaultSandbox, type SandboxSettings } from "./sandbox/settings.ts";
import { followLinks, inside, list, openOtherNames, walk, whyAsked } from "./scan.ts";
import { readEnds, readLines } from "./search/read-lines.ts";
import { search } from "./search/search.ts";
import { openDisk } from "./system/disk.ts";
import { openTransaction } from "./transaction.ts";

export interface WorkspaceOptions {
  readonly root: string;
  /** pai's folder for the state of all workspaces; null: --ephemeral. */
  readonly stateDir: string | null;
  /** pai's other folders; protected under every name of their files. */
  readonly own?: readonly string[];
  readonly home: string | null;
  readonly force: boolean;
  readonly policy: PathRules;
  readonly allow?: readonly string[];
  readonly env: Env;
  readonly commandEnv: readonly string[];
  readonly umask: number;
  readonly keep?: number;
  readonly showsArguments?: boolean;
  /** Absolute paths outside the root: to be read, and folders to be changed as well. */
  readonly shown?: readonly string[];
  readonly also?: readonly string[];
  readonly sandbox?: SandboxSettings;
}

export type OpenedWorkspace = Awaited<ReturnType<typeof openWorkspace>>;

const maxReadBytes = 8 * 1024 * 1024;

/** Looks at no file of the workspace unless a run was cut off here. Throws root_refused. */
export async function openWorkspace(options: WorkspaceOptions) {
  const { force, home } = options;
  const own = [...new Set([...(options.own ?? []), ...(options.stateDir === null ? [] : [options.stateDir])])];
  const roots: Root[] = [];
  const root = openRoot(options.root, { force, home, own, rules: options.policy }, roots);
  const path = pathOutside(options.env["PATH"], root.path);
  const outside = openOutside(root, roots, options, own);
  const { places } = outside;
  let opened: ReadonlySet<string> = new Set();
  const inPlaces = (path: string) => outside.find(path, opened);
  const policy: PathRules = { ...rulesOf(root, options.policy, own), outside: inPlaces };
  requireAllowable(root, policy, home, { named: options.allow ?? [], places });
  /** Of actions: commands do not see what a person opens. */
  let rules = policy;
  const { state, why } = openState(root, options.stateDir);
  const lock = state ? openStateLock(state) : openRootLock(root);
  const history = openHistory(root, state, lock, policy, outside.reach);
  const cutOff = state === null ? [] : openIds(state);
  const recovered = state === null ? [] : await recover(root, state, lock, policy, outside.reach);
  const settings = options.sandbox ?? defaultSandbox;
  const openConfined = async (network: boolean) =>
    (await import("./sandbox/open-sandbox.ts")).openSandbox({
      settings: { ...settings, network: network || settings.network },
      workspace: root.path,
      workspaceFd: root.lent.fd,
      rules: policy,
      home,
      own,
      also: outside.changed,
      stateFolder: state?.folder ?? null,
    });
  /** Probed and loaded by the first command: most tasks run none. */
  const sandbox = atFirstUse(() => openConfined(false));
  const namesOf = openOtherNames(root.path);
  const spellings = spellingsOf(root.path, options);
  const fileAt = (path: RelPath) => {
    const stat = root.statOrNull(path);
    return stat?.kind === "file" ? stat : null;
  };
  const gitPlace = { root: root.path, path, env: options.env };
  const workspace: Workspace = {
    root: root.path,
    undoable: state !== null,
    ...openView(root, () => rules, { spellings, places }),
    host: async (asked, signal) =>
      (await import("./host/look-at-host.ts")).lookAtMachine(options.showsArguments === true, asked, signal),
    parse: (text) => (parseOutside(text, places) ?? parsePath(text, spellings)).path,
    whyClosed(path) {
      const judged = judgeNames(path, rules);
      return judged.kind === "secret" ? `${showName(judged.name)} ${whyJudged(judged)}` : null;
    },
    mayMerge: (path) => mayMerge(path, policy) && whyAsked(path, policy, namesOf(path)) === null,
    openClosed(paths) {
      opened = new Set([...paths].filter((path) => judgeNames(path, policy).kind === "secret"));
      rules = { ...policy, opened };
    },
    concern(path) {
      const why = whyAsked(path, policy, namesOf(path));
      if (why !== null) return why;
      const mode = fileAt(path)?.mode ?? 0o222;
      if ((mode & 0o6000) !== 0) return `${showName(path)} runs as its owner, and no longer when it is changed`;
      // A rename would silently replace it.
      return (mode & 0o222) === 0 ? "write-protected" : null;
    },
    ...(state !== null && { requireRoom: () => requireRoom(state) }),
    requireWritable: (path, touch) => requireWritable(root.path, path, touch),
    lostOwner: (path, touch) => lostOwner(root.path, path, touch),
    names: (path) => fileAt(path)?.nlink ?? 0,
    repository: (signal) => describeRepository(root.path, { path, signal }),
    ownProgram: (command) => findOwnProgram([root.path, ...outside.changed], command, options.env["PATH"] ?? ""),
    runAfter: async (command, limits) =>
      runAfter(command, { cwd: root.path, env: commandEnv(options.env, options.commandEnv), ...limits }),
    survey: (terms) => openSurvey({ root, rules: policy, path }, terms),
    sandbox: async () => (await sandbox()).state(),
    commits: {
      require: async () => requireRepository(gitPlace),
      prepare: (...asked) => prepareCommit(gitPlace, ...asked),
    },
    async begin(run) {
      let performer: Perform | null = null;
      const perform: Perform = async (...command) => {
        performer ??= openPerform({
          root,
          policy,
          env: options.env,
          commandEnv: options.commandEnv,
          sandbox: await sandbox(),
          // Without a journal nothing tells what other runs do, so all changes count as own.
          meanwhile: () => (state ? watchOthers(state, run.id) : (changes) => changes),
        });
        return performer(...command);
      };
      return openTransaction(
        {
          root,
          disk: state?.disk ?? openDisk(),
          lock,
          journal: state && openJournal(state, run.id, outside.changed),
          umask: options.umask,
          judge: (changes) => judgeChanges(root, changes, rules),
          perform,
          ended: () => history.prune(options.keep === undefined ? {} : { runs: options.keep }),
        },
        run,
      );
    },
  };
  return {
    workspace,
    history,
    async startTool(program: ToolProgram, network: boolean) {
      return startTool(await (network ? openConfined(true) : sandbox()), program, path);
    },
    recovered,
    /** Ids of the runs that had been cut off and ended at the start. */
    ended: cutOff.filter((id) => state !== null && !openIds(state).includes(id)),
    stateFolder: state?.folder ?? null,
    /** From now on this file or folder outside the project may be read. Throws usage for what does not exist. */
    show: outside.show,
    /** Gives the root's descriptor back; nothing of the workspace may be used afterwards. */
    close: root.close,
    warnings: weaknesses(root, why),
  };
}

const rulesOf = (root: Root, rules: PathRules, own: readonly string[]): PathRules => ({
  ...denyBelow(rules, root.path, realFolders(own)),
  place: placeOf(root.path, findTop(root.path)?.top ?? "/"),
  certificates: openCertificates(root),
});

const maxCertificateBytes = 1024 * 1024;

/** Tells public certificates from keys: their files have the same ending, and only what they hold now differs. */
const openCertificates = (root: Root) => ({
  has(path: string): boolean {
    if (!path.toLowerCase().endsWith(".pem")) return false;
    // null: no file, too large, or a second name of something closed.
    const file = orNull(() => root.readBytes(path as RelPath, maxCertificateBytes));
    const labels = Buffer.from(file?.bytes ?? [])
      .toString("latin1")
      .matchAll(/-----BEGIN ([^\n-]*)-----/g)
      .toArray();
    return labels.length > 0 && labels.every(([, label]) => label === "CERTIFICATE");
  },
});

/** Each is opened like a root of its own. Throws usage. */
function openOutside(
  main: Root,
  roots: Root[],
  { shown = [], also = [], home, policy, force }: WorkspaceOptions,
  own: readonly string[],
) {
  const places: Outside[] = [];
  const open = (given: string, use: Outside["use"]): void => {
    const { base, only } = findShown(given);
    const isKnown = places.some((each) => each.only === null && pathWithin(base, each.root.path) !== null);
    if (isKnown || pathWithin(base, main.path) !== null) return;
    if (use === "change" && (only !== null || pathWithin(main.path, base) !== null))
      throw new PaiError("usage", `--also takes a folder beside the project, which ${showName(base)} is not`);
    const root = openRoot(base, { force: force || use !== "change", home, own, rules: policy });
    roots.push(root);
    places.push({ root, only, given, use, rules: rulesOf(root, policy, own) });
  };
  for (const given of also) open(given, "change");
  for (const given of shown) open(given, "read");
  return {
    places,
    changed: places.filter(({ use }) => use === "change").map(({ root }) => root.path),
    show: (given: string): void => open(given, "read"),
    reach(folders: readonly string[]): void {
      for (const folder of folders) open(folder, "undo");
    },
    find(path: string, opened: ReadonlySet<string>) {
      for (const { root, only, use, rules } of places) {
        const within = pathWithin(path, root.path);
        if (within === null || (only !== null && within !== only)) continue;
        const here = opened.has(path) ? { ...rules, opened: new Set([within]) } : rules;
        return { path: within, rules: here, mayChange: use === "change" };
      }
      return null;
    },
  };
}

/** The real path, the one by which it was opened, and the shell's PWD where that leads here. */
function spellingsOf(real: string, { root, env }: WorkspaceOptions): readonly string[] {
  const shell = env["PWD"] ?? "";
  const isHere = shell.startsWith("/") && shell !== real && realPathOf(shell) === real;
  return [...new Set([real, resolve(root), ...(isHere ? [shell] : [])])];
}

/** `spellings`: absolute paths by which callers may name the root. */
function openView(
  root: Root,
  rules: () => PathRules,
  { spellings, places }: { readonly spellings: readonly string[]; readonly places: readonly Outside[] },
): View {
  const refuseDenied = (path: RelPath, use: PathUse): RelPath => {
    const verdict = judgePath(path, use, rules());
    if (verdict.verdict !== "deny") return path;
    const isSecret = judgeNames(path, rules()).kind === "secret";
    const hint = `only pai started with ${spellAllow(path)} opens it, with its values hidden`;
    throw new PaiError("path_refused", `${showName(path) || "."}: ${verdict.why}`, isSecret ? { hint } : {});
  };
  /** A closed folder that may be made, since the settings open a file in it. */
  const readClosed = (path: RelPath): Blob | null => {
    const stat = root.stat(refuseDenied(path, "folder"));
    if (stat !== null && stat.kind !== "folder") refuseDenied(path, "read");
    return stat && { kind: "folder", mode: stat.mode };
  };
  return {
    path(text, use) {
      const { path, folder } = parseOutside(text, places) ?? parsePath(text, spellings);
      const isOfFile = () =>
        use === "read" || use === "write" || (root.statOrNull(path)?.kind ?? "folder") !== "folder";
      if (folder && path !== "" && isOfFile())
        throw new PaiError("path_refused", `"${showName(text)}" names a folder, not a file`);
      return refuseDenied(path, use);
    },
    follow(path, use) {
      const real = followLinks(root.path, path, use, places.map(topOf));
      return real === path ? path : refuseDenied(real, use);
    },
    async read(path, limit = maxReadBytes) {
      if (judgePath(path, "read", rules()).verdict === "deny") return readClosed(path);
      try {
        const file = root.readBytes(path, limit);
        return file && { kind: "file", bytes: file.bytes, mode: file.stat.mode };
      } catch (thrown) {
        // Most paths are files, so folders and links are only looked at when reading fails.
        const stat = root.stat(path);
        if (stat?.kind === "folder") return { kind: "folder", mode: stat.mode };
        if (stat?.kind === "link") return { kind: "link", target: stat.target ?? "" };
        throw thrown;
      }
    },
    readLines: async (path, from, to) => readLines(root, refuseDenied(path, "read"), from, to),
    readEnds: async (path, lines) => readEnds(root, refuseDenied(path, "read"), lines),
    list: async (folder) => list(root, refuseDenied(folder, "list"), rules()),
    walk: (folder, signal, unreadable) =>
      walk(root, refuseDenied(folder, "list"), rules(), {
        signal,
        omitted: (path, why) => why === "unreadable" && unreadable?.(path),
      }),
    ...(places.length > 0 && { alsoShown: places.map(topOf) }),
    inside: async (folder) => inside(root, refuseDenied(folder, "list")),
    search: async (query, signal) => {
      refuseDenied(query.under, "list");
      return search(root, query, rules(), signal);
    },
  };
}

/** Whatever proposed them. Throws path_refused, also for what would turn a folder into a git repository. */
function judgeChanges(root: Root, changes: readonly Change[], rules: PathRules): void {
  for (const { path, after } of changes) {
    const use = after === null ? "delete" : after.kind === "folder" ? "folder" : "write";
    const verdict = judgePath(path, use, rules);
    if (verdict.verdict === "deny") throw new PaiError("path_refused", `${showName(path)}: ${verdict.why}`);
  }
  const created = changes.filter(({ before, after }) => before === null && after !== null).map(({ path }) => path);
  const shape = findRepositoryShape(created, (folder) =>
    root.statOrNull(folder)?.kind === "folder" ? (namesIn(root, folder) ?? []) : [],
  );
  if (shape === null) return;
  throw new PaiError("path_refused", `${showName(shape) || "the root"} would become a git repository by its shape`, {
    hint: "git runs what such a folder configures",
  });
}

function weaknesses(root: Root, why: string | null): string[] {
  const found: string[] = [];
  if (why !== null) found.push(`undo is off: ${why}`);
  const mode = root.stat("" as RelPath)?.mode ?? 0;
  if ((mode & 0o1002) === 0o0002) found.push(`${showName(root.path)} can be written by everybody on this machine`);
  return [...found, ...whyNotOwn(root.path, process.geteuid?.() ?? 0)];
}
