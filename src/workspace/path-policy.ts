/** Which paths may be used, judged by name alone: deny, ask or allow. Pure. */
import { foldName } from "../core/guard/fold-name.ts";
import { describeSteering, needsOwnYes, steeringOfName } from "../core/guard/steering.ts";
import { joinPath, nameOf, type PathUse, parentOf, type RelPath } from "../core/path.ts";
import { showName } from "./parse-path.ts";

export type PathVerdict =
  | { readonly verdict: "allow" }
  /** `why` is a clause that names the part of the path it refers to. */
  | { readonly verdict: "deny" | "ask"; readonly why: string };

/**
 * Globs from the user's settings: without `/` for a name at any depth, with `/` for a path from the root. `deny` wins
 * over `allow`, and `allow` over the built-in rules; a full path in `allow` is open even in a denied folder.
 */
export interface PathRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

const words = (text: string): ReadonlySet<string> => new Set(text.match(/\S+/g));

/** Why a name is denied: a secret, files of a repository, of a tool or of pai, or a rule of the settings. */
export type DeniedKind = "secret" | "repository" | "tool" | "own" | "settings";

/** Folded names, or `folder/name` pairs. */
const secretNames = words(
  `.env .ssh .aws .azure .gnupg .kube .password-store .netrc _netrc .git-credentials .pgpass .npmrc .pypirc .htpasswd
  .dockercfg .vault-token .s3cfg .boto credentials.json id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk
  .docker/config.json .config/gcloud .config/gh .cargo/credentials .cargo/credentials.toml .gem/credentials .envs .dev.vars
  .secrets secrets.yml secrets.yaml secrets.json secrets.toml kubeconfig .vault_pass .vault_pass.txt local.settings.json
  .sentryclirc .my.cnf rclone.conf`,
);
const deniedNames: readonly { readonly kind: DeniedKind; readonly why: string; readonly names: ReadonlySet<string> }[] =
  [
    { kind: "secret", why: "may hold keys or passwords", names: secretNames },
    {
      kind: "repository",
      why: "belongs to version control",
      names: words(".git .hg .svn .jj .sl .bzr _darcs .pijul .fslckout"),
    },
    {
      kind: "tool",
      why: "is kept by a tool and not edited by hand",
      names: words("venv .venv __pycache__ .idea .vscode"),
    },
    {
      kind: "own",
      why: "belongs to pai itself",
      names: words(".pai_history .config/pai-code state/pai-code share/pai-code .cache/pai-code"),
    },
  ];
const secretEndings = words("env pem key p8 p12 pfx jks jceks bks keystore keytab ppk kdbx ovpn kubeconfig tfstate");
const secretShape =
  /^\.env[~._-].*$|\.tfstate\.backup$|service[-_]?account.*\.json$|^client_secret.*\.json$|-adminsdk-.*\.json$|^wg\d+\.conf$/;
/** `secretShape` is tried only on names with these endings, which few have. */
const shapedEndings = words("json conf backup");
/** Names that editors and people give to copies of a file. */
const copyShape = /^#?(.+?)(?:~|#|\.(?:bak|old|orig|save|tmp|swp))+$/;
const copyEndings = words("bak old orig save tmp swp");
const unfinishedShape = /^\.pai-[0-9a-f]+\.tmp$/;
const openShape = /^(?:\.env[._-](?:example|sample|template)|(?:example|sample|template)\.env)$/;

/** The built-in rules as texts. What was found under other rules, as by an earlier pai, may name what is denied now. */
export const listBuiltInRules = (): readonly string[] => [
  ...deniedNames.flatMap(({ names }) => [...names]),
  ...secretEndings,
  ...copyEndings,
  ...[secretShape, copyShape, unfinishedShape, openShape].map(({ source }) => source),
];

const changes: ReadonlySet<PathUse> = new Set(["write", "folder", "move"]);

/** Judges a path by the names in it, at any depth, whether or not they exist. */
export function judgePath(path: RelPath, use: PathUse, rules: PathRules): PathVerdict {
  if (path === "") return use === "list" ? { verdict: "allow" } : { verdict: "deny", why: "that is the root itself" };
  let ask: PathVerdict | null = null;
  let closed: string | null = null;
  let folder = "" as RelPath;
  for (const name of path.split("/")) {
    const whole = joinPath(folder, name);
    const { denied, opened, spelled, forGood } = judgeName(folder, name, rules);
    if (forGood) return { verdict: "deny", why: denied ?? "" };
    // A full path in the settings is open even in a denied folder.
    closed = spelled ? null : (closed ?? denied);
    if (!opened && changes.has(use)) ask ??= askAbout(folder, name, whole === path);
    folder = whole;
  }
  return closed === null ? (ask ?? { verdict: "allow" }) : { verdict: "deny", why: closed };
}

/** Whether `name`, in a folder that is itself visible, must not be shown. */
export function isHidden(folder: RelPath, name: string, rules: PathRules): boolean {
  return judgeName(folder, name, rules).denied !== null;
}

/** The kind of a denied name; null: it is not denied. */
export function kindOfDenied(folder: RelPath, name: string, rules: PathRules): DeniedKind | null {
  if (!isHidden(folder, name, rules)) return null;
  const folded = foldName(name);
  if (matchesRule(folder, [name, folded], rules.deny)) return "settings";
  const pair = `${baseOf(folder)}/${folded}`;
  const group = deniedNames.find(({ names }) => names.has(folded) || names.has(pair));
  return group?.kind ?? (unfinishedShape.test(folded) ? "own" : "secret");
}

/**
 * The folder that would have the shape of a git repository if these paths were created (or has it already and would
 * change): git runs what such a folder configures. null: none. `siblings` lists the existing names in a folder.
 */
export function findRepositoryShape(
  created: readonly RelPath[],
  siblings: (folder: RelPath) => readonly string[],
): RelPath | null {
  const touched = new Map<RelPath, Set<string>>();
  for (const path of created) {
    for (let at = path; at !== ""; at = parentOf(at)) {
      const name = foldName(nameOf(at));
      if (!repositoryParts.has(name)) continue;
      const folder = parentOf(at);
      touched.set(folder, (touched.get(folder) ?? new Set()).add(name));
    }
  }
  for (const [folder, names] of touched) {
    const all = new Set([...names, ...siblings(folder).map(foldName)]);
    if (all.has("head") && (all.has("commondir") || (all.has("objects") && all.has("refs")))) return folder;
  }
  return null;
}

const repositoryParts = words("head objects refs config config.worktree commondir hooks");

interface NameVerdict {
  /** Why the name is denied, as a clause; null: it is not. */
  readonly denied: string | null;
  /** The settings allow the name. */
  readonly opened: boolean;
  /** The settings allow the full path, without a wildcard. */
  readonly spelled?: boolean;
  /** The settings deny the name, so nothing can open it. */
  readonly forGood?: true;
}

const baseOf = (folder: RelPath) => foldName(nameOf(folder));

function judgeName(folder: RelPath, name: string, rules: PathRules): NameVerdict {
  const folded = foldName(name);
  if (matchesRule(folder, [name, folded], rules.deny))
    return { denied: `${showName(name)} is denied by the settings`, opened: false, forGood: true };
  if (matchesRule(folder, [name], withFolders(rules.allow)))
    return { denied: null, opened: true, spelled: isSpelled(joinPath(folder, name), rules.allow) };
  const why = whyDenied(folded, `${baseOf(folder)}/${folded}`);
  return { denied: why === null ? null : `${showName(name)} ${why}`, opened: false };
}

function askAbout(folder: RelPath, name: string, last: boolean): PathVerdict | null {
  const steering = steeringOfName(baseOf(folder), foldName(name), last);
  if (steering === null || !needsOwnYes(steering)) return null;
  return { verdict: "ask", why: `${showName(name)} ${describeSteering(steering)}` };
}

function whyDenied(folded: string, pair: string): string | null {
  if (folded.includes(".env") && openShape.test(folded)) return null;
  const short = folded.includes("~") ? (/^([^~]{1,6})~\d+$/.exec(folded)?.[1] ?? null) : null;
  for (const { why, names } of deniedNames) {
    if (names.has(folded) || names.has(pair)) return why;
    if (short !== null && [...names].some((name) => name.replace(/^\./, "").slice(0, 6) === short)) return why;
  }
  if (folded.startsWith(".pai-") && unfinishedShape.test(folded)) return "is a half-written file of pai";
  return isSecretName(folded) ? "may hold keys or passwords" : null;
}

function isSecretName(folded: string): boolean {
  const dot = folded.lastIndexOf(".");
  const ending = folded.slice(dot + 1);
  if (dot >= 0 && secretEndings.has(ending)) return true;
  if ((folded.startsWith(".env") || shapedEndings.has(ending)) && secretShape.test(folded)) return true;
  const isCopy = copyEndings.has(ending) || ending.endsWith("~") || ending.endsWith("#");
  const original = isCopy ? copyShape.exec(folded)?.[1] : undefined;
  if (original === undefined) return false;
  // An editor may put a dot in front: `.id_rsa.swp`.
  return [original, original.replace(/^\./, "")].some((name) => secretNames.has(name) || isSecretName(name));
}

/**
 * Whether a pattern without wildcards is this path. A bare name does not count: it would open every file of that name.
 */
const isSpelled = (path: RelPath, patterns: readonly string[]): boolean =>
  patterns.some(
    (pattern) => pattern.includes("/") && pattern.replace(/^\/|\/$/g, "") === path && !/[*?[\]{}!\\]/.test(pattern),
  );

/** A pattern `folder/**` opens the folder itself as well. */
const withFolders = (patterns: readonly string[]) =>
  patterns.length === 0
    ? patterns
    : patterns.flatMap((pattern) => (pattern.endsWith("/**") ? [pattern, `/${pattern.slice(0, -3)}`] : [pattern]));

/** Called for every name in a project; most settings have no patterns. */
function matchesRule(folder: RelPath, names: readonly string[], patterns: readonly string[]): boolean {
  if (patterns.length === 0) return false;
  return patterns.some((pattern) => {
    const glob = new Bun.Glob(pattern.replace(/^\/|\/$/g, ""));
    const whole = pattern.replace(/\/$/, "").includes("/");
    return names.some((name) => glob.match(whole ? joinPath(folder, name) : name));
  });
}

/** Adds a deny rule for each of the absolute `folders` that lies below the root. */
export function denyBelow(rules: PathRules, root: string, folders: readonly string[]): PathRules {
  const above = root === "/" ? root : `${root}/`;
  const below = folders.filter((folder) => folder.startsWith(above)).map((folder) => folder.slice(above.length));
  const globs = below.map((path) => `/${path.replace(/[*?[\]{}!\\]/g, "\\$&")}`);
  return globs.length === 0 ? rules : { ...rules, deny: [...rules.deny, ...globs] };
}

const neverRoots = new Set("/ /home /media /mnt /opt /root /run /srv /usr /usr/local /var /var/lib".split(" "));
const systemTree = /^\/(bin|boot|dev|etc|lib|lib32|lib64|libx32|proc|sbin|sys|usr\/(bin|lib|lib32|lib64|sbin))(\/|$)/;

/** Why a real path should not be a root, as a clause; null: it may be. `home` is a real path too. */
export function judgeRoot(real: string, home: string | null): string | null {
  if (real === "/") return "is the whole system";
  if (real === home) return "is the home folder";
  if (real.startsWith("/dev/shm/")) return null;
  return neverRoots.has(real) || systemTree.test(real) ? "is a folder of the system" : null;
}
