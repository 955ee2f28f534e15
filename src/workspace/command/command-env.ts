/** The environment of commands: what the user typed gets the user's own less secrets, what a model wrote an allow-list. */

export type Env = Readonly<Record<string, string | undefined>>;

/** Nothing may wait for a person, page, or colour. */
const quiet = {
  CI: "1",
  PAI: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: ":",
  GIT_SEQUENCE_EDITOR: ":",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
  npm_config_yes: "true",
  NO_COLOR: "1",
  TERM: "dumb",
} as const;

const allowed = new Set(
  `HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR XDG_CACHE_HOME SSL_CERT_FILE SSL_CERT_DIR
  JAVA_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT
  GOPATH GOROOT GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN
  VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT PYTHONPATH RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH
  NVM_DIR VOLTA_HOME PNPM_HOME DENO_DIR DOTNET_ROOT COMPOSER_HOME MIX_HOME HEX_HOME
  CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS PKG_CONFIG_PATH`.split(/\s+/),
);

const keyLike =
  /(^|_)(api_?keys?|access_?keys?|secret_?keys?|private_?keys?|auth_?keys?|keys?|tokens?|secrets?|pass|passw(or)?d|passphrase|pwd|pat|credentials?|auth|session_?id)(_|$)|apikey|_dsn$/i;

/** Whether a variable's name says that its value is a secret. */
function isKeyLike(name: string): boolean {
  return name !== "PWD" && name !== "OLDPWD" && keyLike.test(name);
}

/** `extra`: names the user allows for commands of a model (`commands.env`). */
export function commandEnv(by: "user" | "plan", env: Env, extra: readonly string[]): Record<string, string> {
  const named = new Set(extra);
  const passes = (name: string): boolean => {
    if (name.startsWith("BUN_")) return false;
    if (by === "user") return !isKeyLike(name);
    return allowed.has(name) || name.startsWith("LC_") || named.has(name);
  };
  const passed = Object.entries(env).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    return value !== undefined && passes(name);
  });
  const path = by === "user" ? env["PATH"] : absoluteOnly(env["PATH"]);
  return { ...Object.fromEntries(passed), PATH: path ?? "/usr/local/bin:/usr/bin:/bin", ...quiet };
}

function absoluteOnly(path: string | undefined): string | undefined {
  return path
    ?.split(":")
    .filter((entry) => entry.startsWith("/"))
    .join(":");
}
