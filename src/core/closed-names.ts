/** What its names make of a path: open, built by tools, asked about or closed. The one rule for all of pai. Pure. */
import { foldName } from "./guard/fold-name.ts";

/** `built`: tools fetch it or make it again; counts for ignored paths only. `asked`: a change needs a yes of its own. */
export type PathClass = "open" | "built" | "asked" | "closed";

/** Why a path is closed: a secret, a repository, pai's own, a rule of the settings, or that it is outside the project. */
export type ClosedKind = "secret" | "repository" | "own" | "settings" | "outside";

/** What the names above the root, and the root's own, say of every path below it. */
export interface Place {
  readonly base: string;
  /** The root is an `etc`, or below one. */
  readonly inEtc: boolean;
  /** The name that closes all below the root, and how; null: none does. */
  readonly closed: { readonly name: string; readonly kind: ClosedKind } | null;
  /** The name that makes all below the root `asked`; null: none does. */
  readonly asked: string | null;
}

/**
 * Globs from the user's settings: without `/` for a name at any depth, with `/` for a path from the root. `deny` wins
 * over `allow`, and `allow` over the built-in names; a full path in `allow` is open even in a closed folder. `opened`: full
 * paths that are open for this run. `place` absent: only the path itself is judged.
 */
export interface PathRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly opened?: ReadonlySet<string>;
  /** Folders of pai's own settings and state that lie in the workspace, as one that is a home holds them. */
  readonly own?: ReadonlySet<string>;
  /** Files that only hold public certificates: open whatever their names are. */
  readonly certificates?: { has(path: string): boolean };
  readonly place?: Place;
  /** The rules of an absolute path, and the path in the place that it is in; null: it is in none. Absent: there are no places. */
  readonly outside?: (path: string) => Placed | null;
}

interface Placed {
  readonly path: string;
  readonly rules: PathRules;
  readonly mayChange: boolean;
}

export interface Judgement {
  readonly class: PathClass;
  /** The name that decides, as it is written; "" for `open` and `built`. */
  readonly name: string;
  /** null: it is not closed. */
  readonly kind: ClosedKind | null;
  /** It is asked about, or would be if no tool built it: what a model writes there itself is asked about. */
  readonly asks: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.match(/\S+/g));

const closedNames: readonly (readonly [kind: ClosedKind, names: ReadonlySet<string>])[] = [
  [
    "secret",
    words(`.env .ssh .aws .azure .gnupg .kube .password-store .netrc _netrc .git-credentials .pgpass .npmrc .pypirc .htpasswd
      .dockercfg .vault-token .s3cfg .boto credentials.json id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk
      .docker/config.json .config/gcloud .config/gh .cargo/credentials .cargo/credentials.toml .gem/credentials .dev.vars
      .secrets secrets.yml secrets.yaml secrets.json secrets.toml kubeconfig .vault_pass .vault_pass.txt
      local.settings.json .sentryclirc .my.cnf rclone.conf shadow- gshadow- sasl_passwd passwd.client chap-secrets
      debian.cnf ssl/private`),
  ],
  ["repository", words(".git .hg .svn .jj .sl .bzr _darcs .pijul .fslckout")],
  ["own", words(".pai_history .config/pai-code state/pai-code share/pai-code .cache/pai-code")],
];
const closedFiles = words("shadow gshadow");
const secretEndings = words(
  "env pem key p8 p12 pfx jks jceks bks keystore keytab ppk kdbx ovpn kubeconfig tfstate nmconnection",
);
/** `.envrc` runs code, and is asked about. */
const secretShape =
  /^\.env(?!rc)|\.tfstate\.backup$|service[-_]?account.*\.json$|^client_secret.*\.json$|-adminsdk-.*\.json$|^wg\d+\.conf$|^ssh_host_\w+_key$/;
const secretInEtc = /\.secrets$|^auth\.conf/;
const exampleShape = /^\.env[\w.-]*[._-](?:example|sample|template|dist)$|^(?:example|sample|template)\.env$/;
const copyShape = /^#?(.+?)(?:~|#|\.(?:bak|old|orig|save|tmp|swp))+$/;
const unfinishedShape = /^\.pai-[0-9a-f]+\.tmp$/;

/** Names with a dot that run nothing and steer nobody; all others are asked about. */
const harmlessNames = words(`.gitignore .editorconfig .prettierrc .prettierrc.json .prettierrc.yaml .prettierrc.yml
  .prettierignore .eslintignore .dockerignore .npmignore .nvmrc .node-version .python-version .ruby-version .gitkeep .keep`);

/** Names without a dot, for a file or a folder, that run code later or steer agents: at most 80 with `askedEndings`. */
export const askedNames = words(`
  jenkinsfile azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml appveyor.yml cloudbuild.yaml
  cloudbuild.yml buildspec.yml action.yml action.yaml codemagic.yaml codeowners renovate.json
  lefthook.yml lefthook.yaml githooks git-hooks hooks/hooks.json
  agents.md agents.override.md agent.md claude.md claude.local.md gemini.md qwen.md memory.md skill.md
  copilot-instructions.md opencode.json mcp.json crush.md pai.json
  sitecustomize.py usercustomize.py bunfig.toml mise.toml pip.conf devcontainer.json authorized_keys profile.ps1 _vimrc
  cron.d cron.hourly cron.daily cron.weekly cron.monthly crontab crontabs anacrontab sudoers sudoers.d pam.d
  profile.d etc/profile etc/environment etc/bash.bashrc init.d rc.local ld.so.preload apt.conf.d logrotate.d modprobe.d
  udev/rules.d network/interfaces if-up.d if-pre-up.d if-down.d dispatcher.d systemd/system systemd/user
  letsencrypt/renewal letsencrypt/renewal-hooks`);
export const askedEndings = words(".mdc .pth ._pth .code-workspace .sublime-project .service .timer .socket");
const dropIns = /\.(?:service|timer|socket)\.d$/;

/** Tools remove even the whole folder themselves. */
const caches = words(`__pycache__ .ipynb_checkpoints .hypothesis .nyc_output .turbo .vite tmp temp`);
const builtFolders =
  words(`node_modules bower_components vendor target site-packages venv .venv .tox .nox __pycache__ .hypothesis .eggs
  .ipynb_checkpoints htmlcov coverage .nyc_output dist build _build out bin obj .next .nuxt .svelte-kit .output .angular
  .astro .docusaurus .vite .turbo .gradle .kotlin .dart_tool deriveddata pods .terraform .stack-work dist-newstyle
  zig-out elm-stuff _opam cmakefiles .bloop .metals tmp temp logs`);
const builtFolderShape = /\.egg-info$|^cmake-build-|^bazel-/;
const cacheShape = /^\.[\w.-]*cache$|^zig-cache$/;
const builtFileShape =
  /\.(?:o|obj|a|lo|la|so|pyc|pyo|class|gcda|gcno|tsbuildinfo|log|tmp|pid|lock|sock|swp)$|[-.](?:wal|shm|journal)$|^\.(?:coverage(?:\..+)?|rspec_status|testmondata|ds_store|nfs[0-9a-f]+)$/;
const databaseShape = /\.(?:db|sqlite3?|mdb|ldb)$/;
/** No project keeps sources under these names. */
const alwaysBuilt = words("node_modules venv __pycache__");

const isFolderName = (folded: string) =>
  builtFolders.has(folded) || builtFolderShape.test(folded) || cacheShape.test(folded);

export const isBuiltFolder = (name: string): boolean => isFolderName(foldName(name));

export function isCache(name: string): boolean {
  const folded = foldName(name);
  return caches.has(folded) || cacheShape.test(folded);
}

/** A file that tools overwrite and remove by themselves: an object file, a log, a lock. */
export const isTransient = (name: string): boolean => builtFileShape.test(foldName(name));

/** Whether only tools use such a name: it counts as ignored. People put links in place of folders without a dot. */
export function isToolName(name: string, isFolder: boolean): boolean {
  const folded = foldName(name);
  if (folded.startsWith(".")) return isFolderName(folded) || builtFileShape.test(folded);
  return isFolder && alwaysBuilt.has(folded);
}

const nowhere: Place = { base: "", inEtc: false, closed: null, asked: null };

interface Part {
  readonly name: string;
  readonly above: string;
  readonly isFolder: boolean;
  readonly inEtc: boolean;
}

function closedBy({ name, above, isFolder, inEtc }: Part): ClosedKind | null {
  if (exampleShape.test(name)) return null;
  const short = /^([^~]{1,6})~\d+$/.exec(name)?.[1] ?? null;
  for (const [kind, names] of closedNames) {
    if (names.has(name) || names.has(`${above}/${name}`) || (short !== null && isShort(short, names))) return kind;
  }
  if (unfinishedShape.test(name)) return "own";
  const isSecret = isSecretName(name) || (!isFolder && closedFiles.has(name)) || (inEtc && secretInEtc.test(name));
  return isSecret ? "secret" : null;
}

const isShort = (short: string, names: ReadonlySet<string>) =>
  [...names].some((each) => each.replace(/^\./, "").slice(0, 6) === short);

function isSecretName(name: string): boolean {
  const dot = name.lastIndexOf(".");
  if (dot >= 0 && secretEndings.has(name.slice(dot + 1))) return true;
  if (secretShape.test(name)) return true;
  const original = copyShape.exec(name)?.[1];
  if (original === undefined) return false;
  // An editor may put a dot in front: `.id_rsa.swp`.
  const [[, secrets]] = closedNames as [(typeof closedNames)[number]];
  return [original, original.replace(/^\./, "")].some(
    (each) => secrets.has(each) || closedFiles.has(each) || isSecretName(each),
  );
}

function isAskedName({ name, above, isFolder }: Part): boolean {
  if (askedNames.has(name) || askedNames.has(`${above}/${name}`) || dropIns.test(name)) return true;
  return !isFolder && [...askedEndings].some((ending) => name.endsWith(ending));
}

/** A name without visible characters is no less odd than one with a dot. */
const isDotName = (name: string): boolean =>
  (name === "" || name.startsWith(".")) && !harmlessNames.has(name) && !exampleShape.test(name);

function signOf(part: Part, name: string): Pick<Place, "closed" | "asked"> {
  const kind = closedBy(part);
  return { closed: kind && { name, kind }, asked: isDotName(part.name) || isAskedName(part) ? name : null };
}

function partIn(folder: Part, name: string, isFolder: boolean): Part {
  return { name: foldName(name), above: folder.name, isFolder, inEtc: folder.inEtc || folder.name === "etc" };
}

/**
 * What the names in an absolute real path say of all below it. Of those down to `top`, the folder of the repository or
 * "/", only closed names count: people put projects into folders of any name.
 */
export function placeOf(root: string, top: string): Place {
  let { closed, asked }: Pick<Place, "closed" | "asked"> = nowhere;
  let part: Part = { name: "", above: "", isFolder: true, inEtc: false };
  let path = "";
  for (const name of root.split("/").filter((each) => each !== "")) {
    path = `${path}/${name}`;
    part = partIn(part, name, true);
    const sign = signOf(part, name);
    closed ??= sign.closed;
    if (path.length > top.length) asked ??= sign.asked;
  }
  return { base: part.name, inEtc: part.inEtc || part.name === "etc", closed, asked };
}

const placed = (path: string, rules: PathRules): Omit<Placed, "mayChange"> | null => {
  if (!path.startsWith("/")) return { path, rules };
  return rules.outside === undefined ? { path: path.slice(1), rules } : rules.outside(path);
};

const builtIn: PathRules = { allow: [], deny: [] };

/** The class of a path relative to the root of `rules`, whether or not it exists. `isFolder`: it is one, or will be. */
export const classOf = (path: string, rules: PathRules = builtIn, isFolder = false): PathClass =>
  judgeNames(path, rules, isFolder).class;

/** Like `classOf`, with what decides: the first closed name, or else the first name that is asked about. */
export function judgeNames(path: string, rules: PathRules = builtIn, isFolder = false): Judgement {
  const found = placed(path, rules);
  if (found !== null) return judgeIn(found.path, found.rules, isFolder);
  return { class: "closed", name: path, kind: "outside", asks: false };
}

function judgeIn(path: string, rules: PathRules, isFolder: boolean): Judgement {
  const { base, inEtc, ...place } = rules.place ?? nowhere;
  let { closed, asked } = place;
  let isBuilt = false;
  let part: Part = { name: base, above: "", isFolder: true, inEtc };
  const names = path === "" ? [] : path.split("/");
  for (const [at, name] of names.entries()) {
    const isLast = at === names.length - 1;
    part = partIn(part, name, !isLast || isFolder);
    const rule = ruleFor(names.slice(0, at + 1).join("/"), name, part.name, rules);
    if (rule === "deny") return { class: "closed", name, kind: "settings", asks: false };
    if (rule === "spelled") closed = asked = null;
    if (rule !== null) continue;
    const sign = signOf(part, name);
    closed ??= sign.closed;
    asked ??= sign.asked;
    isBuilt ||= isBuiltName(part.name, isLast);
  }
  if (closed !== null) return { class: "closed", ...closed, asks: false };
  const asks = asked !== null;
  const unbuilt = asks ? "asked" : "open";
  return { class: isBuilt ? "built" : unbuilt, name: asked ?? "", kind: null, asks };
}

const isBuiltName = (folded: string, isLast: boolean) =>
  isFolderName(folded) || (isLast && (builtFileShape.test(folded) || databaseShape.test(folded)));

/** Whether others' changes may be merged with pai's: not in asked names, whatever the settings allow, nor below `etc`. */
export function mayMerge(path: string, rules: PathRules): boolean {
  const found = placed(path, rules);
  if (found === null) return false;
  const { deny, place = nowhere } = found.rules;
  const { class: judged, asks } = judgeIn(found.path, { ...builtIn, deny, place }, false);
  return judged !== "closed" && !asks && !place.inEtc;
}

/** How a name is closed in a folder that is not closed itself; null: it is not. Quicker than `judgeNames`. */
export function closedNameIn(folder: string, name: string, rules: PathRules, isFolder: boolean): ClosedKind | null {
  const found = placed(folder, rules);
  if (found === null) return "outside";
  const { base, inEtc, closed } = found.rules.place ?? nowhere;
  const folded = foldName(name);
  const rule = ruleFor(found.path === "" ? name : `${found.path}/${name}`, name, folded, found.rules);
  if (rule !== null) return rule === "deny" ? "settings" : null;
  if (closed !== null) return closed.kind;
  const names = found.path.split("/");
  const isInEtc = inEtc || (secretInEtc.test(folded) && names.some((each) => foldName(each) === "etc"));
  const above = found.path === "" ? base : foldName(names.at(-1) ?? "");
  return closedBy({ name: folded, above, isFolder, inEtc: isInEtc });
}

/** Which rule of the settings decides about a name; `spelled`: the whole path, without a wildcard. */
function ruleFor(path: string, raw: string, folded: string, { allow, deny, opened, certificates }: PathRules) {
  if (deny.length > 0 && matches(path, raw, deny, folded)) return "deny";
  if (opened?.has(path) || certificates?.has(path)) return "spelled";
  if (allow.length === 0 || !matches(path, raw, withFolders(allow))) return null;
  return allow.some((pattern) => spelledBy(pattern) === path) ? "spelled" : "allow";
}

/** The path that a rule spells out; null: none. A bare name spells no path: it would open every file of that name. */
const spelledBy = (pattern: string): string | null =>
  pattern.includes("/") && !/[*?[\]{}!\\]/.test(pattern) ? pattern.replace(/^\/|\/$/g, "") : null;

/** Whether it is a folder above a path that is spelled out as open. It may be made for it, and nothing else. */
export const leadsToSpelled = (folder: string, { allow, opened = new Set() }: PathRules): boolean =>
  [...allow.map(spelledBy), ...opened].some((path) => path?.startsWith(`${folder}/`) === true);

/** A pattern `folder/**` opens the folder itself as well. */
const withFolders = (patterns: readonly string[]) =>
  patterns.flatMap((pattern) => (pattern.endsWith("/**") ? [pattern, `/${pattern.slice(0, -3)}`] : [pattern]));

function matches(path: string, raw: string, patterns: readonly string[], folded = raw): boolean {
  const folder = path.slice(0, path.length - raw.length);
  return patterns.some((pattern) => {
    const glob = new Bun.Glob(pattern.replace(/^\/|\/$/g, ""));
    const isWhole = pattern.replace(/\/$/, "").includes("/");
    return [raw, folded].some((name) => glob.match(isWhole ? folder + name : name));
  });
}

const reasons: Readonly<Record<ClosedKind, string>> = {
  secret: "may hold keys or passwords",
  repository: "belongs to version control",
  own: "belongs to pai itself",
  settings: "is denied by the settings",
  outside: "is outside the project",
};

/** Why a path is closed or asked about, as a clause behind the name that decides. */
export const whyJudged = ({ kind }: Judgement): string =>
  kind === null ? "may run code later or steer agents" : reasons[kind];
