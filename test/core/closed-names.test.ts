/** What its names make of a path: closed, built, asked about or open, wherever pai was started. */
import { describe, expect, test } from "bun:test";
import { askedEndings, askedNames, classOf, closedNameIn, placeOf } from "../../src/core/closed-names.ts";

type PathClass = ReturnType<typeof classOf>;

const words = (text: string) => text.match(/\S+/g) ?? [];
/** The paths of a text that are not of this class, each with its own. */
const others = (wanted: PathClass, text: string, at: (path: string) => PathClass = classOf) =>
  words(text).flatMap((path) => (at(path) === wanted ? [] : [`${path}: ${at(path)}`]));

test("what holds secrets or belongs to version control or pai is closed, at any depth and in any spelling", () => {
  const closed = `.env .env.local .env~ .env.d/x .envs/a prod.env a/.ENV .git a/.git/config .hg/x .svn .jj/x
    _darcs/prefs .ssh/config id_rsa k/id_ed25519 a.pem a.KEY a.p12 .aws/credentials .gnupg .kube/config .docker/config.json
    .netrc .git-credentials .npmrc .pypirc credentials.json secrets.toml serviceAccountKey.json client_secret_1.json
    vpn.ovpn wg0.conf prod.tfstate prod.tfstate.backup id_rsa.bak .id_rsa.swp server.key.old .npmrc.bak #.netrc# GIT~1 ENV~1
    .pai_history .config/pai-code/settings.json .local/state/pai-code .pai-0123456789abcdef.tmp`;
  expect(others("closed", closed)).toEqual([]);
  const spelled = [
    ...[" .env", ".env\u00a0", ".env.", ".git. . .", ".git::$INDEX_ALLOCATION", "．env", ".g\u200cit", ".e\u00adnv"],
    ".aw\u017f/x",
  ];
  expect(spelled.filter((path) => classOf(path) !== "closed")).toEqual([]);
});

test("files in which a server keeps secrets are closed", () => {
  const closed = `ssh/ssh_host_rsa_key shadow etc/shadow shadow- gshadow backup/gshadow- shadow.bak postfix/sasl_passwd exim4/passwd.client
    ppp/chap-secrets system-connections/wifi.nmconnection mysql/debian.cnf .pgpass .my.cnf .htpasswd ssl/private/x
    etc/ipsec.secrets srv/copy/etc/apt/auth.conf etc/apt/auth.conf.d/proxy`;
  expect(others("closed", closed)).toEqual([]);
  expect(others("open", "src/shadow/box.ts src/app.secrets src/auth.conf.ts shadows passwd etc/passwd")).toEqual([]);
  expect([classOf("src/shadow"), classOf("src/shadow", undefined, true)]).toEqual(["closed", "open"]);
});

test("what tools make is built, with a dot as well", () => {
  const built = `.venv .next/x .pytest_cache/v .mypy_cache .eslintcache .phpunit.result.cache .coverage node_modules/a/b.js
    dist/a.js a.pyc target/debug/x venv/lib/x.py app.log data.sqlite .DS_Store .venv/.hidden`;
  expect(others("built", built)).toEqual([]);
});

test("a name with a dot is asked about unless it is harmless", () => {
  const asked = `.bashrc .envrc .vscode/settings.json .idea/a.xml .github/dependabot.yml a/.husky/pre-commit .claude/x .mcp.json
    .cursorrules .eslintrc.cjs .prettierrc.js .unheard-of/tool.toml .gitattributes .gitmodules .pnp.cjs src/.hidden
    .gi\u200bthub/x ... .travis.yml .drone.yml .woodpecker.yml .buildkite/pipeline.yml .forgejo/workflows/a.yml .githooks/pre-commit
    .config/fish/config.fish .config/autostart/a.desktop .xprofile .vimrc .exrc .nvim.lua .dir-locals.el .gdbinit .mise.toml .roo/mcp.json`;
  expect(others("asked", asked)).toEqual([]);
  const harmless = `.gitignore a/.gitignore .editorconfig .prettierrc .prettierrc.yaml .dockerignore .npmignore .nvmrc
    .python-version .env.example .env.local.sample template.env .gitkeep`;
  expect(others("open", harmless)).toEqual([]);
});

test("some names without a dot are asked about, too, and they are few", () => {
  const asked = `bitbucket-pipelines.yml appveyor.yml cloudbuild.yaml sitecustomize.py MEMORY.md opencode.json Jenkinsfile AGENTS.md docs/agents.md CODEOWNERS azure-pipelines.yml sub/CLAUDE.md lefthook.yml action.yml
    lib/usercustomize.py site/evil.pth a.code-workspace etc/cron.d/x cron.daily/x sudoers.d/x etc/pam.d/sshd profile.d/x.sh
    etc/init.d/x systemd/system/x.conf deploy/app.service web.service.d/override.conf logrotate.d/x spool/cron/crontabs/root
    network/interfaces if-up.d/x modprobe.d/x letsencrypt/renewal/a.conf ld.so.preload`;
  expect(others("asked", asked)).toEqual([]);
  expect(askedNames.size + askedEndings.size).toBeLessThanOrEqual(80);
});

test("ordinary files are open", () => {
  const open = `src/app.py README.md Makefile package.json tsconfig.json Dockerfile src/hooks/useThing.ts src/cron.ts
    lib/action.yml.md id_rsa.pub secrets.ts keys.ts docker/config.json src/environment.ts app.service.ts a:b ~/x`;
  expect(others("open", open)).toEqual([]);
});

describe("the class does not depend on the folder in which pai was started", () => {
  const below = (root: string, top = "/") => {
    const place = placeOf(root, top);
    return (path: string, isFolder = false) => classOf(path, { allow: [], deny: [], place }, isFolder);
  };

  test.each([
    ["/etc/cron.d", "backup", "asked"],
    ["/etc/sudoers.d", "web", "asked"],
    ["/etc/systemd", "system/web.conf", "asked"],
    ["/etc/systemd/system", "web.conf", "asked"],
    ["/etc", "profile", "asked"],
    ["/etc/apt", "auth.conf", "closed"],
    ["/etc/ssl", "private/a", "closed"],
    ["/etc", "shadow", "closed"],
    ["/home/ann/.ssh", "authorized_keys", "closed"],
    ["/home/ann/.config/gcloud/x", "a.txt", "closed"],
    ["/home/ann/.config/nvim", "init.lua", "asked"],
    ["/srv/app/.github/workflows", "ci.yml", "asked"],
    ["/etc/nginx", "nginx.conf", "open"],
    ["/srv/app", "src/a.ts", "open"],
  ] as const)("in %s, %s is %s", (root, path, wanted) => {
    expect(below(root)(path)).toBe(wanted);
    expect(classOf(`${root}/${path}`.slice(1))).toBe(wanted);
  });

  test("folders of tools above a project build nothing in it", () => {
    expect(others("open", "a.ts src/b.ts", below("/tmp/build/x"))).toEqual([]);
  });

  test("a repository may lie in any folder", () => {
    expect(below("/home/ann/.worktrees/x/src", "/home/ann/.worktrees/x")("a.ts")).toBe("open");
    expect(below("/home/ann/crontab", "/home/ann/crontab")("a.ts")).toBe("open");
    expect(below("/home/ann/.dotfiles/.config/fish", "/home/ann/.dotfiles")("a.fish")).toBe("asked");
    expect(below("/home/ann/.ssh", "/home/ann/.ssh")("config")).toBe("closed");
  });
});

test("the settings open what is closed or asked about, and close more; what they close wins", () => {
  const rules = { allow: [".npmrc", "certs/*.pem", ".vscode/**", "a/.ssh/known_hosts"], deny: ["*.sql", "private/**"] };
  const at = (path: string) => classOf(path, rules);
  expect(others("open", "a/.npmrc certs/a.pem .vscode/a.json a/.ssh/known_hosts", at)).toEqual([]);
  expect(others("closed", "a.pem db/DUMP.SQL private/x/y a/.ssh/id_rsa", at)).toEqual([]);
  expect(classOf("sub/.vscode/a.json", rules)).toBe("asked");
  expect(classOf(".npmrc", { allow: [".npmrc"], deny: [".npmrc"] })).toBe("closed");
});

test("one name in a folder is closed as its whole path is", () => {
  const inEtc = { allow: [], deny: [], place: placeOf("/etc", "/") };
  const paths = "a/.docker/config.json a/config.json .github a.sql shadow apt/auth.conf x.secrets .env a.ts";
  for (const rules of [{ allow: [], deny: ["*.sql"] }, inEtc]) {
    for (const path of words(paths)) {
      const at = path.lastIndexOf("/");
      const isClosed = closedNameIn(path.slice(0, Math.max(at, 0)), path.slice(at + 1), rules, false) !== null;
      expect([path, isClosed]).toEqual([path, classOf(path, rules) === "closed"]);
    }
  }
});
