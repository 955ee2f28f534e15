/** Names of files that run when a project is built, tested or installed, by the tool that runs them. In lower case. */
import type { Row } from "./steering-names.ts";

const runs = (tool: string, names: string, more: Omit<Row, "why" | "names"> = {}): Row => ({
  why: `${tool} runs its content`,
  names,
  ...more,
});

export const builtNames: readonly Row[] = [
  runs("make", "makefile gnumakefile makefile.am makefile.in bsdmakefile", { endings: ".mk" }),
  runs("just", "justfile .justfile", { endings: ".just" }),
  runs(
    "task",
    "taskfile.yml taskfile.yaml taskfile.dist.yml taskfile.dist.yaml maskfile.md xtask.toml makefile.toml mage.go magefile.go magefiles/",
  ),
  runs("rake", "rakefile rakefile.rb", { endings: ".rake" }),
  runs("pytest", "conftest.py pytest.ini"),
  runs(
    "pip",
    "setup.py setup.cfg pyproject.toml hatch_build.py build.py pdm_build.py uv.toml pdm.toml poetry.toml pipfile pixi.toml",
  ),
  runs("nox or tox", "noxfile.py tox.ini"),
  runs(
    "python tools",
    "fabfile.py dodo.py pavement.py manage.py .pylintrc pylintrc .flake8 mypy.ini .mypy.ini .coveragerc gunicorn.conf.py mkdocs.yml .dvc/config bin/activate",
  ),
  runs("cargo", "cargo.toml build.rs rust-toolchain rust-toolchain.toml"),
  runs(
    "gradle",
    "build.gradle build.gradle.kts settings.gradle settings.gradle.kts init.gradle init.gradle.kts gradle.properties gradlew gradlew.bat gradle/wrapper/ buildsrc/",
    { endings: ".gradle .gradle.kts" },
  ),
  runs("maven", ".mvn/ pom.xml mvnw mvnw.cmd"),
  runs("ant or sbt", "build.xml build.sbt build.sc plugins.sbt .sbtopts .jvmopts"),
  runs("clojure", "project.clj deps.edn bb.edn shadow-cljs.edn build.boot"),
  runs("gulp", "", { shape: { words: "gulpfile.", pattern: /^gulpfile\.(?:[cm]?[jt]s|babel\.js|coffee)$/ } }),
  runs("grunt", "", { shape: { words: "gruntfile.", pattern: /^gruntfile\.(?:[cm]?[jt]s|coffee)$/ } }),
  runs("pnpm", "pnpm-workspace.yaml package.json5 package.yaml"),
  runs("a TypeScript tool", "", { shape: { words: "tsconfig jsconfig", pattern: /^(?:ts|js)config(?:\..+)?\.json$/ } }),
  runs(
    "a JavaScript tool",
    `.eslintrc .babelrc .prettierrc .stylelintrc .mocharc .nycrc .swcrc .postcssrc .commitlintrc .releaserc .storybook/
      .parcelrc .lintrc .puppeteerrc .graphqlrc .taprc .c8rc .huskyrc jakefile jakefile.js karma.conf.js
      protractor.conf.js wdio.conf.js wdio.conf.ts angular.json nx.json project.json turbo.json lerna.json rush.json
      workspace.json deno.json deno.jsonc nodemon.json .ncurc.js wallaby.js ember-cli-build.js brunch-config.js
      quasar.conf.js vue.config.js netlify.toml vercel.json tsup.json forge.config.js electron-builder.yml .bowerrc .release-it.json plopfile.js jest.setup.js jest.setup.ts
      .markdownlint.cjs .markdownlint-cli2.cjs .markdownlint-cli2.mjs .markdownlint-cli2.jsonc .markdownlint-cli2.yaml`,
    {
      shape: {
        words: ".config. webpack. rc. .workspace.",
        pattern:
          /^(?:[\w.-]+\.config\.(?:[cm]?[jt]sx?|json)|webpack\.[\w.-]+\.[cm]?[jt]s|\.[\w-]+rc\.(?:[cm]?[jt]s|json5?|ya?ml)|[\w-]+\.workspace\.[cm]?[jt]s)$/,
      },
    },
  ),
  runs("docker", "compose.yml compose.yaml compose.override.yml compose.override.yaml", {
    endings: ".dockerfile",
    shape: {
      words: "dockerfile containerfile docker-compose",
      pattern: /^(?:dockerfile|containerfile)(?:\..+)?$|^docker-compose.*\.ya?ml$/,
    },
  }),
  runs(
    "a deploy",
    "procfile procfile.dev app.yaml fly.toml render.yaml railway.json railway.toml skaffold.yaml tiltfile earthfile heroku.yml app.json .ebextensions/ cdk.json firebase.json wrangler.toml wrangler.json wrangler.jsonc serverless.yml pulumi.yaml helmfile.yaml docker-bake.hcl nixpacks.toml snapcraft.yaml",
  ),
  runs("systemd or the desktop", "", { endings: ".desktop .service .timer" }),
  runs("ansible", "ansible.cfg .ansible.cfg"),
  runs("terragrunt", "terragrunt.hcl"),
  runs("a web server", ".htaccess web.config"),
  runs("a package manager of the system", "debian/rules debian/postinst pkgbuild apkbuild", { endings: ".spec" }),
  runs("nix", "flake.nix shell.nix default.nix devenv.nix devenv.yaml devbox.json .flox/", { endings: ".nix" }),
  runs("cmake", "cmakelists.txt cmakepresets.json cmakeuserpresets.json conanfile.py vcpkg.json", {
    endings: ".cmake .cmake.in",
  }),
  runs(
    "meson or autotools",
    "meson.build meson_options.txt configure configure.ac configure.in autogen.sh bootstrap.sh aclocal.m4",
  ),
  runs("bazel", "tools/bazel .bazeliskrc build.bazel workspace.bazel module.bazel .bazelrc workspace.bzlmod buck", {
    endings: ".bzl .star",
  }),
  runs("scons, waf, premake or xmake", "sconstruct sconscript wscript waf premake5.lua xmake.lua kbuild"),
  runs("dotnet", "nuget.config global.json dotnet-tools.json directory.build.rsp", {
    endings: ".csproj .fsproj .vbproj .vcxproj .props .targets .sln .ruleset",
  }),
  runs("xcode or swift", "package.swift project.pbxproj podfile cartfile fastfile appfile fastlane/", {
    endings: ".podspec .xcconfig .xcscheme",
    shape: { words: ".xcode.env", pattern: /^\.xcode\.env/ },
  }),
  runs("elixir or erlang", "mix.exs rebar.config .formatter.exs .credo.exs"),
  runs(
    "a Ruby tool",
    "gemfile gems.rb config.ru .rspec .rubocop.yml .simplecov .solargraph.yml guardfile dangerfile capfile vagrantfile brewfile",
    { endings: ".gemspec" },
  ),
  runs(
    "a PHP tool",
    "composer.json phpunit.xml phpunit.xml.dist .php-cs-fixer.php .php-cs-fixer.dist.php phpstan.neon rector.php",
  ),
  runs("a Haskell tool", "setup.hs stack.yaml cabal.project", { endings: ".cabal" }),
  runs("a compiler", "build.zig build.zig.zon dub.sdl dub.json shard.yml build.jl gleam.toml", { endings: ".nimble" }),
  runs("luacheck", ".luacheckrc"),
  runs("tmuxinator", ".tmuxinator.yml .tmuxinator.yaml"),
  runs("dune", "dune dune-project dune-workspace"),
  runs("R's tools", ".lintr _targets.r"),
  runs("an editor, when asked,", ".run/"),
  runs("perl", "makefile.pl build.pl cpanfile"),
  runs("go", "go.mod go.work .golangci.yml .golangci.yaml .goreleaser.yml .goreleaser.yaml"),
  runs("melos or dart", "melos.yaml build.yaml"),
  { why: "npm runs its scripts", names: "package.json" },
];
