/** Finds what a command must not see or change: secrets of the project and of the home, repositories, pai's own folders. */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { PathRules } from "../policy.ts";
import { entriesOf } from "../system/entries.ts";
import { findInside, type Inside } from "./closed-inside.ts";
import type { Hidden } from "./confinement.ts";

export interface ClosedPaths {
  readonly hidden: readonly Hidden[];
  /** Repositories in the project: folders, and files that point to one. */
  readonly repositories: readonly string[];
  /** Whether there were too many names to look at all. */
  readonly partial: boolean;
  /** Of the project alone: for the next time. */
  readonly inside: Inside;
}

export interface Ground {
  /** Real path. */
  readonly workspace: string;
  readonly rules: PathRules;
  readonly home: string | null;
  /** pai's own folders. */
  readonly own: readonly string[];
  readonly isRoot: boolean;
  /** What the person lets commands read all the same, absolute. */
  readonly open: readonly string[];
}

/** Sockets of services that act with their own rights: always closed, even with the network. */
const powerfulSocket =
  /docker|podman|containerd|buildkit|cri-?o|lxd|incus|libvirt|qemu|snapd|systemd|dbus|bus$|agent|keyring|wayland|X11|\bX\d/i;

/** Files and folders of a home that hold keys, passwords or sessions. */
const homeSecrets =
  `.ssh .aws .azure .gnupg .kube .docker .password-store .netrc _netrc .git-credentials .pgpass .my.cnf
  .npmrc .pypirc .htpasswd .dockercfg .vault-token .s3cfg .boto .config/gcloud .config/gh .config/hub .config/op
  .config/rclone .config/sops .config/pip .config/git/credentials .config/containers/auth.json .config/doctl .config/helm
  .config/composer/auth.json .composer/auth.json .config/pulumi .pulumi/credentials.json .oci .terraformrc
  .m2/settings-security.xml .fly/config.yml .wrangler .pip .cargo/credentials .cargo/credentials.toml .gem/credentials
  .terraform.d/credentials.tfrc.json .local/share/keyrings .claude .claude.json .codex .gemini .mozilla .thunderbird
  .config/google-chrome .config/chromium .config/BraveSoftware .bash_history .zsh_history .python_history
  .node_repl_history .psql_history .mysql_history`.split(/\s+/);

/** What only root can read anyway. */
const rootSecrets = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/ssl/private",
];

/** `last`: what was found the time before; null: nothing yet. */
export function findClosedPaths(ground: Ground, last: ClosedPaths | null): ClosedPaths {
  const inside = findInside(ground, last?.inside ?? null);
  const outside = [...homesOf(ground).flatMap((home) => homeSecrets.map((name) => join(home, name))), ...ground.own];
  const privileged = ground.isRoot ? [...rootSecrets, ...hostKeys()] : [];
  const found = new Map<string, Hidden>();
  for (const path of [...inside.hidden, ...outside, ...privileged]) {
    const real = realPathOf(path);
    const stat = real === null ? undefined : lstatSync(real, { throwIfNoEntry: false });
    if (real === null || stat === undefined || !(stat.isFile() || stat.isDirectory())) continue;
    if (contains(real, ground.workspace)) continue;
    found.set(real, { path: real, isFolder: stat.isDirectory() });
  }
  const open = ground.open.flatMap((path) => realPathOf(path) ?? []);
  const hidden = open.reduce(openUp, withoutNested([...found.values()]));
  return { hidden, repositories: inside.repositories, partial: inside.partial, inside };
}

/**
 * Files of sockets that somebody listens on: a read-only disk does not keep a command from speaking to them. `all`: also
 * those of ordinary services, such as a database.
 */
export function findSockets(all: boolean): readonly Hidden[] {
  const paths = new Set(
    readText("/proc/net/unix")
      .split("\n")
      .flatMap((line) => /\s(\/\S.*)$/.exec(line)?.[1] ?? []),
  );
  return [...paths].flatMap((path) => {
    if (!all && !powerfulSocket.test(path)) return [];
    const real = realPathOf(path);
    const isSocket = real !== null && lstatSync(real, { throwIfNoEntry: false })?.isSocket() === true;
    return real !== null && isSocket ? [{ path: real, isFolder: false }] : [];
  });
}

/** Where such services listen that may come from another network namespace, as in a container; those are listed nowhere. */
const usualSockets = `/run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock /run/crio/crio.sock
  /run/buildkit/buildkitd.sock /run/dbus/system_bus_socket /var/snap/lxd/common/lxd/unix.socket /var/lib/lxd/unix.socket
  /var/lib/incus/unix.socket /run/libvirt/libvirt-sock /run/snapd.socket`.split(/\s+/);

/** Whether a service is available here that acts with its own rights. */
export function hasPowerfulSocket(): boolean {
  const isSocket = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
  return usualSockets.some(isSocket) || findSockets(false).length > 0;
}

/** Mount points below a folder, without those below another of them. A mount that is covered by another is told, too. */
export function findSubmounts(folder: string): readonly string[] {
  const points = readText("/proc/self/mountinfo")
    .split("\n")
    .flatMap((line) => line.split(" ")[4] ?? [])
    .map((text) =>
      text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))),
    )
    .filter((path) => path.startsWith(`${folder}/`));
  return [...new Set(points)].filter((path) => !points.some((other) => path.startsWith(`${other}/`)));
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Hidden paths that a text names, those of the project relative to it: the whole path, or for a file in the project its name. */
export function namedIn(text: string, hidden: readonly Hidden[], workspace: string): readonly string[] {
  const words = new Set(text.split(/[^\w./~+@-]+/).map((word) => word.replace(/^\.\//, "").replace(/\.$/, "")));
  return hidden.flatMap(({ path }) => {
    if (!path.startsWith(`${workspace}/`)) return words.has(path) ? [path] : [];
    const below = path.slice(workspace.length + 1);
    return [path, below, basename(below)].some((name) => words.has(name)) ? [below] : [];
  });
}

const contains = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`);

/** The content of a hidden folder is hidden with it. */
function withoutNested(all: readonly Hidden[]): readonly Hidden[] {
  const folders = all.filter(({ isFolder }) => isFolder);
  return all.filter(({ path }) => !folders.some((folder) => folder.path !== path && contains(folder.path, path)));
}

/** Takes `open` out: of a hidden folder above it everything else stays hidden. */
function openUp(hidden: readonly Hidden[], open: string): readonly Hidden[] {
  return hidden.flatMap((each): readonly Hidden[] => {
    if (contains(open, each.path)) return [];
    if (!each.isFolder || !contains(each.path, open)) return [each];
    const children = entriesOf(each.path).map((entry) => ({
      path: join(each.path, entry.name),
      isFolder: entry.isDirectory(),
    }));
    return openUp(children, open);
  });
}

/** The person's own home; as root everybody's. */
function homesOf({ home, isRoot }: Ground): readonly string[] {
  const own = home === null ? [] : [home];
  if (!isRoot) return own;
  const others = entriesOf("/home").flatMap((entry) => (entry.isDirectory() ? [join("/home", entry.name)] : []));
  return [...new Set([...own, "/root", ...others])];
}

const hostKeys = (): readonly string[] =>
  entriesOf("/etc/ssh").flatMap(({ name }) => (/^ssh_host_.*_key$/.test(name) ? [join("/etc/ssh", name)] : []));

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
