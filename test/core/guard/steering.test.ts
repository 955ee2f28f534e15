/** The table of files that steer: every name that an attack tried, by its kind. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { findSteering, needsOwnYes, type SteeringKind } from "../../../src/core/guard/steering.ts";
import { agentNames, unaskedNames } from "../../../src/core/guard/steering-names.ts";
import { builtNames } from "../../../src/core/guard/steering-tools.ts";

// F12, F21
const kinds: Readonly<Record<SteeringKind, string>> = {
  unasked: `.travis.yml azure-pipelines.yml bitbucket-pipelines.yml Jenkinsfile .drone.yml .woodpecker.yml
    .buildkite/pipeline.yml appveyor.yml cloudbuild.yaml .forgejo/workflows/a.yml .gitea/workflows/a.yml action.yml
    .github/workflows/ci.yml .github/actions/x/run.sh .circleci/config.yml .gitlab-ci.yml .githooks/pre-commit
    lefthook.yml .husky/pre-commit .pre-commit-config.yaml .config/fish/config.fish .config/autostart/a.desktop .xprofile
    .bashrc .zshenv .envrc .vimrc .exrc .nvim.lua .dir-locals.el .gdbinit sitecustomize.py lib/usercustomize.py
    site/evil.pth .mise.toml a.code-workspace .devcontainer/devcontainer.json .lintstagedrc.json .cargo/config.toml
    .yarn/releases/yarn.cjs jenkinsfile.prod rust-analyzer.toml hie.yaml .bsp/x.json .luarc.json .externalToolBuilders/a.launch
    .readthedocs.yaml .taskcluster.yml .gitlab-ci/jobs.yml .gitlab/agents/a/config.yaml .lfsconfig .hgsub .reviewboardrc
    .gitconfig-work .envrc.local .bashrc.d/x .zshrc.local .p10k.zsh mise.production.toml cron.daily/x sudoers.d/x
    .ssh-less/authorized_keys ld.so.preload profile.d/x.sh .wezterm.lua .pdbrc.py .rdbgrc jdb.ini python312._pth renv/activate.R
    sitecustomize/__init__.py CODEOWNERS .github/settings.yml renovate.json .mergify.yml .eas/workflows/a.yml .rwx/a.yml
    .mint/a.yml .nx/workflows/agents.yaml .depot/workflows/ci.yml .deployment .upsun/config.yaml .lagoon.yml
    .trunk/trunk.yaml .shadowenv.d/500.lisp mise/config.toml .lazy.lua .nfnl.fnl _emacs omnisharp.json
    .sourcekit-lsp/config.json .gitpod/automations.yaml .ona/automations.yaml .superset/config.json conductor.json
    .mux/init`,
  built: `vite.config.ts eslint.config.mjs jest.config.js webpack.config.js webpack.prod.js .eslintrc.cjs flake.nix gradlew
    .mvn/wrapper/maven-wrapper.properties gradle/wrapper/gradle-wrapper.properties conftest.py setup.py Makefile
    build.rs package.json Dockerfile docker-compose.prod.yml Taskfile.yml noxfile.py a.mk CMakeLists.txt build.gradle.kts
    Gruntfile.js tsconfig.config.json deploy/app.service tsconfig.json tsconfig.base.json jsconfig.json Cargo.toml go.mod
    package.json5 package.yaml .bowerrc wrangler.toml firebase.json debian/rules PKGBUILD .mypy.ini
    dune-project xmake.lua devbox.json a.gradle gunicorn.conf.py .lintr .run/a.run.xml app.xcscheme
    .markdownlint.cjs .markdownlint-cli2.mjs .flox/env/manifest.toml Directory.Build.rsp gleam.toml .dvc/config
    bin/activate .luacheckrc .tmuxinator.yml`,
  agents: `AGENTS.md CLAUDE.md MEMORY.md .cursorrules .roo/mcp.json opencode.json .mcp.json .claude/settings.json
    .github/copilot-instructions.md GEMINI.md .aider.conf.yml .windsurf/rules/a.md docs/agents.md pai.json
    .claude-plugin/plugin.json rules/a.mdc .cursor-rules .vibe/config.toml DEVIN.md
    .github/hooks/pre.json .github/lsp.json .github/extensions/x/extension.mjs plugins/x/hooks/hooks.json .lsp.json
    .cursor-plugin/plugin.json .pi/extensions/x.ts .pi/settings.json .aiassistant/rules/a.md .qoder/rules/a.md
    .lingma/rules/a.md .serena/project.yml .zencoder/rules/a.md gptme.toml .noai replit.md .worktreeinclude`,
};

for (const [kind, names] of Object.entries(kinds)) {
  test(`names of kind ${kind}`, () => {
    const wrong = names
      .split(/\s+/)
      .filter((path) => findSteering(path)?.kind !== kind)
      .map((path) => [path, findSteering(path)?.kind]);
    expect(wrong).toEqual([]);
  });
}

test("ordinary files have none", () => {
  const ordinary = `src/app.py README.md src/makefile.ts docs/hooks/useThing.ts .gitignore .github/dependabot.yml
    src/config.js tests/test_memory.py lib/action.yml.md configure/index.ts .editorconfig data/agents.json LICENSE
    src/components/memory.tsx .env.example app/tasks.py app/conf.py`;
  expect(ordinary.split(/\s+/).filter((path) => findSteering(path) !== null)).toEqual([]);
});

test("spellings that a file system takes for the same name are the same", () => {
  const spellings = [
    ".TRAVIS.YML",
    ".travis.yml.",
    ".tra\u200bvis.yml",
    "ＡＧＥＮＴＳ.md",
    "Sub/.GitHub/Workflows/x",
    ".leßfilter",
  ];
  const steering = spellings.map(findSteering);
  expect(steering.map((found) => found !== null && needsOwnYes(found))).toEqual(spellings.map(() => true));
});

test("the gravest kind of a path counts", () => {
  expect(findSteering(".github/workflows/Makefile")?.kind).toBe("unasked");
  expect(findSteering("fastlane/AGENTS.md")?.kind).toBe("agents");
});

const shapes = [...unaskedNames, ...agentNames, ...builtNames].flatMap(({ shape }) => shape ?? []);

test("whatever a shape fits has one of its words", () => {
  expect(shapes.length).toBeGreaterThan(5);
  for (const { words, pattern } of shapes) {
    const hasWord = (name: string) => words.split(" ").some((word) => name.includes(word));
    fc.assert(fc.property(fc.stringMatching(pattern), hasWord), { numRuns: 300 });
  }
});
