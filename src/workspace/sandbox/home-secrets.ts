/** Finds the user's keys, passwords and sessions outside the project. */
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { entryAt } from "../../system/entry-at.ts";
import { entriesOf } from "../../system/lookups.ts";
import { registeredHome } from "../../system/registered-home.ts";

export interface HomeOptions {
  /** Real path. Files in it that variables and links point to are judged by the project's own rules. */
  readonly workspace: string;
  readonly home: string | null;
  /** Its variables may move configuration to unusual places. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isRoot: boolean;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Files and folders in the home folder. */
const inHome = words(`
  .ssh .gnupg .age .password-store .netrc _netrc .authinfo .authinfo.gpg .git-credentials .cache/git/credential .htpasswd
  .aws .azure .boto .s3cfg .oci .aliyun .bluemix .ovh.conf .kube .docker .dockercfg .vault-token .ansible/vault
  .terraformrc .terraform.d/credentials.tfrc.json .pulumi/credentials.json .fly/config.yml .wrangler .ngrok2
  .npmrc .yarnrc .yarnrc.yml .pypirc .pip .gem/credentials .cargo/credentials .cargo/credentials.toml .composer/auth.json
  .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .nuget/NuGet/NuGet.Config
  .pgpass .my.cnf .mylogin.cnf .dbt/profiles.yml .databrickscfg .snowflake .kaggle .huggingface .cache/huggingface/token
  .sentryclirc .clasprc.json .jira.d .subversion/auth .mc/config.json
  .claude .claude.json .codex .gemini .qwen .grok .openai .cursor/mcp.json .aider.conf.yml
  .mailrc .msmtprc .mbsyncrc .fetchmailrc .muttrc .offlineimaprc
  .mozilla .thunderbird snap/firefox snap/chromium snap/thunderbird .var/app .bitcoin .ethereum .Xauthority .ICEauthority
  .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history
  .rediscli_history .irb_history .lesshst .viminfo`);

/** Names below `.config` or XDG_CONFIG_HOME. */
const inConfig = words(`
  gcloud gh hub glab-cli op rclone sops age pip git/credentials containers/auth.json doctl helm composer/auth.json pulumi
  github-copilot hcloud openstack scw linode-cli ibmcloud fly netlify stripe ngrok heroku vault act configstore
  NuGet filezilla remmina borg solana wandb jira mc exercism anthropic opencode goose
  google-chrome chromium BraveSoftware microsoft-edge vivaldi opera Bitwarden Signal
  Code/User/globalStorage Cursor/User/globalStorage VSCodium/User/globalStorage`);

/** Names below `.local/share` or XDG_DATA_HOME. */
const inData = words(`
  keyrings opencode/auth.json com.vercel.cli containers/auth.json fish/fish_history kwalletd`);

/** Variables that name a secret file or folder; `parts`: only these names in it are secret. */
const named: readonly (readonly [variable: string, parts?: readonly string[]])[] = [
  ...words(`AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE AZURE_CONFIG_DIR BOTO_CONFIG CLAUDE_CONFIG_DIR CLOUDSDK_CONFIG
    CODEX_HOME DOCKER_CONFIG GH_CONFIG_DIR GLAB_CONFIG_DIR GNUPGHOME GOOGLE_APPLICATION_CREDENTIALS HISTFILE KRB5CCNAME
    KUBECONFIG NETRC NPM_CONFIG_USERCONFIG npm_config_userconfig PASSWORD_STORE_DIR PGPASSFILE PIP_CONFIG_FILE
    TF_CLI_CONFIG_FILE XAUTHORITY`).map((variable) => [variable] as const),
  ["CARGO_HOME", ["credentials", "credentials.toml"]],
  ["GRADLE_USER_HOME", ["gradle.properties"]],
  ["HF_HOME", ["token"]],
];
const secretVariable = /_(?:TOKEN|KEY|PASSWORD|SECRET|CREDENTIALS)_FILE$/;

/** Absolute paths that exist now. */
export function findHomeSecrets({ workspace, home, env, isRoot }: HomeOptions): readonly string[] {
  const below = (base: string | undefined, names: readonly string[]) =>
    base !== undefined && isAbsolute(base) ? names.map((name) => join(base, name)) : [];
  const homes = homesOf(home, isRoot);
  const usual = homes.flatMap((each) => [
    ...below(each, inHome),
    ...below(join(each, ".config"), inConfig),
    ...below(join(each, ".local/share"), inData),
  ]);
  const elsewhere = [...below(env["XDG_CONFIG_HOME"], inConfig), ...below(env["XDG_DATA_HOME"], inData)];
  const isOutside = (path: string) => !path.startsWith(`${workspace}/`);
  const all = new Set([...usual, ...elsewhere, ...namedBy(env).filter(isOutside)].filter(isThere));
  return [...all].flatMap((path) => [path, ...linkedIn(path).filter(isOutside)]);
}

function namedBy(env: HomeOptions["env"]): readonly string[] {
  const others = Object.keys(env).flatMap((variable) => (secretVariable.test(variable) ? [[variable] as const] : []));
  return [...named, ...others].flatMap(([variable, parts = [""]]) =>
    (env[variable] ?? "")
      .split(":")
      .filter((path) => isAbsolute(path) && path !== "/")
      .flatMap((path) => parts.map((part) => join(path, part))),
  );
}

/** Files that links directly in a hidden folder point to: managers of dotfiles keep the files elsewhere. */
const linkedIn = (folder: string): readonly string[] =>
  entriesOf(folder).flatMap((entry) => {
    if (!entry.isSymbolicLink()) return [];
    try {
      const real = realpathSync(join(folder, entry.name));
      return lstatSync(real).isFile() ? [real] : [];
    } catch {
      // The link is broken.
      return [];
    }
  });

/** The user's homes: HOME and the registered one; for root also those of everybody who may log in or has SSH keys. */
function homesOf(home: string | null, isRoot: boolean): readonly string[] {
  const own = [home, registeredHome()].filter((each) => each !== null);
  if (!isRoot) return [...new Set(own)];
  const others = entriesOf("/home").flatMap((entry) => (entry.isDirectory() ? [join("/home", entry.name)] : []));
  return [...new Set([...own, "/root", ...others, ...homesOfUsers()])];
}

const firstPerson = 1000;
const nobody = 65534;

function homesOfUsers(): readonly string[] {
  let users = "";
  try {
    users = readFileSync("/etc/passwd", "utf8");
  } catch {
    // Only the folders of /home are known then.
  }
  return users.split("\n").flatMap((line) => {
    const [, , id = "", , , home = ""] = line.split(":");
    if (!isAbsolute(home) || home === "/") return [];
    const isPerson = Number(id) >= firstPerson && Number(id) !== nobody;
    return isPerson || isThere(join(home, ".ssh")) ? [home] : [];
  });
}

/** Files in a folder that this user may not enter are closed to commands anyway. */
function isThere(path: string): boolean {
  try {
    return entryAt(path) !== undefined;
  } catch {
    return false;
  }
}
