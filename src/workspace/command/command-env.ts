/** The environment of commands: an allow-list plus the variables that the user names, equal for a whole run. */

export type Env = Readonly<Record<string, string | undefined>>;

/** No command may wait for a person, start a pager, or print colours. */
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
  // Python keys its bytecode by size and whole second, so a check could run the old code.
  PYTHONDONTWRITEBYTECODE: "1",
  TERM: "dumb",
} as const;

/** Variables that toolchains need; none that contains a login. */
const allowed = new Set(
  `HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR XDG_CACHE_HOME XDG_DATA_HOME SSL_CERT_FILE SSL_CERT_DIR
  NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NIX_SSL_CERT_FILE
  JAVA_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT SDKMAN_DIR
  GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS CGO_ENABLED CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN
  RUSTFLAGS RUST_BACKTRACE VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT PYTHONPATH PYTHONUNBUFFERED
  PIP_CACHE_DIR UV_CACHE_DIR RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH
  NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME NODE_ENV NODE_PATH npm_config_cache NPM_CONFIG_CACHE YARN_CACHE_FOLDER
  ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR DENO_DIR DOTNET_ROOT COMPOSER_HOME MIX_HOME HEX_HOME HOMEBREW_PREFIX NIX_PATH
  CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS PKG_CONFIG_PATH LIBRARY_PATH LD_LIBRARY_PATH CPATH
  HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy`.split(/\s+/),
);

/** User names and passwords in URLs; a proxy variable may hold one without a scheme. */
const userInfo = /(?<=:\/\/)[^\s/,;|]*@/g;
const proxyUser = /^([a-z][\w+.-]*:\/\/)?.*@/is;

const withoutUserInfo = (name: string, value: string) =>
  /_proxy$/i.test(name) ? value.replace(proxyUser, "$1") : value.replace(userInfo, "");

/** Equal for each command of a run: a check that passed before the changes must be able to pass after them. */
export function commandEnv(env: Env, extra: readonly string[]): Record<string, string> {
  const named = new Set(extra);
  const passed = Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    if (named.has(name)) return [[name, value]];
    return allowed.has(name) || name.startsWith("LC_") ? [[name, withoutUserInfo(name, value)]] : [];
  });
  return { ...Object.fromEntries(passed), PATH: absoluteOnly(env["PATH"]) || "/usr/local/bin:/usr/bin:/bin", ...quiet };
}

/** Variables that were kept from a command and that its output names. */
export function withheldNames(env: Env, given: Readonly<Record<string, string>>, output: string): readonly string[] {
  const words = new Set(output.match(/\b[A-Za-z_]\w{3,}\b/g));
  return Object.keys(env).filter((name) => env[name] !== undefined && !(name in given) && words.has(name));
}

function absoluteOnly(path: string | undefined): string | undefined {
  return path
    ?.split(":")
    .filter((entry) => entry.startsWith("/"))
    .join(":");
}
