/** Names of files that run unasked, and of files that steer agents, by the program that reads them. In lower case. */

/** A shape of names. Each such name contains one of `words`, so the pattern is tried only on names with one of them. */
export interface Shape {
  readonly words: string;
  readonly pattern: RegExp;
}

/** One reader and the names it looks for; steering.ts says how they are spelled. */
export interface Row {
  readonly why: string;
  readonly names: string;
  /** For the last part of a path, where a list of names is not enough: its endings, or its shape. */
  readonly endings?: string;
  readonly shape?: Shape;
}

export const unaskedNames: readonly Row[] = [
  {
    why: "CI runs it",
    names: `.github/workflows/ .github/actions/ action.yml action.yaml .circleci/ .gitlab-ci.yml .gitlab-ci.yaml
      .gitlab/ci/ .travis.yml .travis.yaml azure-pipelines.yml azure-pipelines.yaml .azure-pipelines/ .azuredevops/
      .azure/pipelines/ bitbucket-pipelines.yml jenkinsfile .jenkins/ .drone.yml .drone.yaml .drone.star .drone.jsonnet
      .woodpecker.yml .woodpecker.yaml .woodpecker/ .buildkite/ appveyor.yml .appveyor.yml .appveyor/ cloudbuild.yaml
      cloudbuild.yml cloudbuild.json buildspec.yml buildspec.yaml appspec.yml .forgejo/ .gitea/ .gogs/ .semaphore/
      .cirrus.yml .cirrus.star .teamcity/ bamboo-specs/ .build.yml .builds/ codefresh.yml .codefresh/ wercker.yml
      .tekton/ .concourse/ .harness/ .dagger/ .screwdriver/ screwdriver.yaml shippable.yml .scrutinizer.yml
      .vsts-ci.yml .gocd.yaml .lgtm.yml .sourcehut.yml bitrise.yml codemagic.yaml .prow.yaml .zuul.yaml .zuul.d/
      zuul.yaml .rultor.yml .space.kts .onedev-buildspec.yml xcode-cloud.yml ci_scripts/ .ci-operator.yaml
      .readthedocs.yml .readthedocs.yaml readthedocs.yml readthedocs.yaml .taskcluster.yml .packit.yaml .packit.yml
      packit.yaml .copr/ .kokoro/ .evergreen.yml .evergreen/ evergreen.yml .gitlab-ci/ .gitlab/agents/ azure-pipelines/
      .pipelines/ buildkite.yml amplify.yml dagger.json .hydra.json garnix.yaml .platform.app.yaml .eas/workflows/ .rwx/
      .mint/ .nx/workflows/ .depot/workflows/ .deployment .upsun/ .lagoon.yml`,
    shape: {
      words: "jenkinsfile azure-pipeline .gitlab-ci.",
      pattern: /^(?:jenkinsfile[._-].+|.+\.jenkinsfile|azure-pipelines?[._-].+\.ya?ml|.+\.gitlab-ci\.ya?ml)$/,
    },
  },
  {
    why: "the host of the repository obeys it",
    names: `codeowners .github/settings.yml .github/settings.yaml .mergify.yml .mergify.yaml .github/mergify.yml
      .kodiak.toml .bulldozer.yml .asf.yaml renovate.json renovate.json5 .renovaterc .renovaterc.json .renovaterc.json5`,
  },
  {
    why: "git or a hook manager runs it",
    names: `.gitmodules .gitattributes .gitconfig .config/git/ .husky/ .huskyrc .huskyrc.json .huskyrc.js .githooks/
      .git-hooks/ .git_hooks/ git-hooks/ githooks/ lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml
      .lefthook.yaml .lefthook.toml .lefthook.json lefthook-local.yml lefthook-local.yaml .lefthook-local.yml
      .lefthook/ .lefthook-local/ .config/lefthook.yml .pre-commit-config.yaml .pre-commit-config.yml
      .pre-commit-hooks.yaml .overcommit.yml .overcommit/ .lintstagedrc .simple-git-hooks.json .simple-git-hooks.js
      .simple-git-hooks.cjs simple-git-hooks.json simple-git-hooks.js simple-git-hooks.cjs .captainhook.json
      captainhook.json grumphp.yml .hgrc .yorkie/ .ghooks.json .ghooks/ .cargo-husky/ prek.toml hk.pkl
      cocogitto.toml cog.toml .rusty-hook.toml .githooks.d/ .lfsconfig .hgsub .reviewboardrc .arcconfig .arclint
      .gitreview .trunk/`,
    shape: {
      words: "lint-staged lintstaged .gitconfig",
      pattern: /^(?:\.?lint-?staged(?:rc)?\.[\w.]+|\.lintstagedrc\.\w+|\.gitconfig[._-].+)$/,
    },
  },
  {
    why: "a shell runs it when it starts",
    names: `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_functions .bash_completion .profile
      .zshrc .zshenv .zprofile .zlogin .zlogout .zsh_aliases .kshrc .mkshrc .cshrc .tcshrc .login .logout .shrc .shinit
      .ashrc .inputrc .ripgreprc .curlrc .wgetrc .screenrc .tmux.conf .tmux/ .oh-my-zsh/ .config/fish/ .config/nushell/
      .config/tmux/ .config/direnv/ .config/mise/ .config/bash/ .config/zsh/ .config/starship.toml .xonshrc
      .config/elvish/ .envrc .direnvrc .mise.toml mise.toml .mise.local.toml mise.local.toml .mise/ .rtx.toml
      .tool-versions .asdfrc .in.zsh .lazygit.yml .autoenv .autoenv.zsh .lessfilter .dir_colors profile.ps1
      microsoft.powershell_profile.ps1 .bashrc.d/ .zshrc.d/ .profile.d/ profile.d/ .zfunc/ .aliases .p10k.zsh .sdkmanrc
      .selected_editor .shadowenv.d/ mise/config.toml`,
    shape: {
      words: ".envrc. .bashrc. .bash_profile. .zshrc. .zshenv. .zprofile. .profile. mise.",
      pattern: /^(?:\.(?:envrc|bashrc|bash_profile|zshrc|zshenv|zprofile|profile)\..+|\.?mise\..+\.toml)$/,
    },
  },
  {
    why: "the desktop or the system starts it",
    names: `.config/autostart/ .config/systemd/ .config/environment.d/ .config/plasma-workspace/ .config/sway/
      .config/i3/ .config/hypr/ .config/openbox/ .config/labwc/ .local/bin/ .local/share/applications/
      .local/share/systemd/ library/launchagents/ library/launchdaemons/ .xprofile .xinitrc .xsession .xsessionrc
      .xserverrc .xresources .xdefaults .pam_environment .wslconfig wsl.conf crontab .crontab cron.d/ .forward
      .procmailrc .k5login .rhosts .shosts cron.hourly/ cron.daily/ cron.weekly/ cron.monthly/ anacrontab
      init.d/ rc.local rc.d/ udev/rules.d/ sudoers sudoers.d/ pam.d/ ld.so.preload apt.conf.d/ authorized_keys
      .config/awesome/ .config/bspwm/ .config/sxhkd/ .config/qtile/ .config/kitty/ .config/wezterm/ .wezterm.lua
      .hammerspoon/ .xbindkeysrc .xmonad/ .muttrc .mailcap`,
  },
  {
    why: "an editor or a debugger runs it when it starts",
    names: `.vimrc _vimrc .gvimrc .exrc .nvimrc .nvim.lua .nvim/ .vim/ .lvimrc .local.vimrc .vimrc.local .config/nvim/
      .config/helix/ .helix/ .kakrc .kak/ .nanorc .dir-locals.el .dir-locals-2.el .emacs .emacs.el .emacs.d/ .spacemacs
      .doom.d/ .config/emacs/ .config/doom/ .projectile .ycm_extra_conf.py .zed/ .fleet/ .vs/ .theia/ .atom/
      .devcontainer/ .devcontainer.json devcontainer.json .gitpod.yml .gitpod.dockerfile .replit replit.nix .idx/
      .codesandbox/ .stackblitzrc .gdbinit .gdbearlyinit .lldbinit .radare2rc .r2rc .config/zed/ .config/code/ .editrc
      .nvim-dap.lua session.vim .vimspector.json .coc-settings.json rust-analyzer.toml .rust-analyzer.toml hie.yaml
      .hie-bios .bsp/ .luarc.json .luarc.jsonc .neoconf.json .nlsp-settings/ .externaltoolbuilders/ .project .kateproject
      .asynctasks .tasks .vimproject .local.vim .exrc.lua .ccls .lapce/ .nova/ _emacs .lazy.lua .nfnl.fnl omnisharp.json
      .sourcekit-lsp/ .ona/automations.yaml .gitpod/ .superset/config.json conductor.json .mux/`,
    endings: ".code-workspace .sublime-project",
  },
  {
    why: "an interpreter or a package manager runs it when it starts",
    names: `sitecustomize.py usercustomize.py .pythonrc .pythonrc.py .python_startup.py .pystartup .ipython/ .jupyter/
      jupyter_config.py jupyter_notebook_config.py .irbrc .pryrc .pdbrc .psysh.php .ocamlinit .re.pl/ .lein/ profiles.clj .clj-kondo/ .user.ini .gemrc .rprofile .renviron rprofile.site .ghci
      .iex.exs .sbclrc .clisprc .guile .julia/ startup.jl .sqliterc .psqlrc .my.cnf .mysqlrc .octaverc startup.m
      .perldb .noderc .erlang .luarocks/ .pnp.cjs .pnp.js .pnp.loader.mjs .pnpmfile.cjs
      .pnpmfile.mjs .yarnrc .yarnrc.yml .yarn/ bunfig.toml .bunfig.toml .cargo/config .cargo/config.toml .bundle/config pip.conf .pip/ .config/pip/ .pydistutils.cfg .terraformrc terraform.rc .gradle/init.d/ .gradle/gradle.properties .m2/settings.xml .config/containers/ .condarc .pdbrc.py .rdbgrc .rdbgrc.rb .byebugrc jdb.ini .jdbrc jupyter_server_config.py jupyter_lab_config.py
      renv/activate.r .mongorc.js .mongoshrc.js .duckdbrc sitecustomize/ usercustomize/`,
    endings: ".pth ._pth",
  },
];

export const agentNames: readonly Row[] = [
  {
    why: "agents take it for instructions",
    names: `agents.md agents.override.md agents.local.md agent.md claude.md claude.local.md gemini.md qwen.md memory.md
      warp.md crush.md codex.md skill.md .cursorrules
      .cursorignore .cursorindexingignore .windsurfrules .clinerules .clinerules/ .clineignore .roorules .roomodes
      .rooignore .goosehints .rules .kilocodemodes .kilocodeignore .augment-guidelines .aiexclude .aiderignore
      .geminiignore .codeiumignore .github/copilot-instructions.md .github/instructions/ .github/prompts/
      .github/chatmodes/ .github/agents/ .github/skills/ copilot-instructions.md iflow.md devin.md codebuddy.md
      .cursor-rules .claudeignore .aiassistant/ .noai replit.md`,
    endings: ".mdc",
    shape: {
      words: "rules- .instructions.md .chatmode.md .prompt.md .agent.md",
      pattern:
        /^(?:\.(?:roorules|clinerules|windsurfrules|cursorrules)-.+|.+\.(?:instructions|chatmode|prompt|agent)\.md)$/,
    },
  },
  {
    why: "agents read their settings and what they run from it",
    names: `.claude/ .claude.json .cursor/ .codex/ .gemini/ .qwen/ .windsurf/ .roo/ .kilocode/ .cline/ .continue/
      .continuerc.json .opencode/ opencode.json opencode.jsonc .junie/ .augment/ .amazonq/ .kiro/ .trae/ .goose/
      .agents/ .agent/ .factory/ .crush.json crush.json .crush/ .openhands/ .devin/ .tabnine/ .sourcegraph/ .cody/
      .warp/ .aider.conf.yml .aider.conf.yaml .aider.model.settings.yml .aider/ .mcp.json mcp.json .mcp/ mcp-config.json
      mcp_config.json mcp_settings.json claude_desktop_config.json .pai/ pai.json .github/mcp.json .copilot/ .plandex/
      .sweep.yaml sweep.yaml .coderabbit.yaml .pr_agent.toml .claude-plugin/ .codex-plugin/ .vibe/ .grok/ .amp/ .iflow/ .bob/
      .kimi/ .rovodev/ .firebender/ .jules/ .codebuddy/ .ruler/ .specify/ greptile.json .github/hooks/ .github/lsp.json
      .github/extensions/ hooks/hooks.json .lsp.json .cursor-plugin/ .pi/ .qoder/ .lingma/ .serena/ .zencoder/
      gptme.toml .worktreeinclude`,
  },
];
