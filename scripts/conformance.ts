/** Lists the rules for command line tools and the tests that name them: `bun scripts/conformance.ts` renews docs/cli.md. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");

interface Rule {
  readonly about: string;
  /** How pai deviates from the rule, and why; absent: it does not. */
  readonly differs?: string;
  /** Why the rule does not apply to pai. */
  readonly void?: string;
}

/** By number, R01 to R69. */
const rules: readonly Rule[] = [
  { about: "results on stdout; progress, questions, warnings on stderr" },
  { about: "`--json`: one document on stdout, also on failure" },
  {
    about: "`--jsonl`: one event a line, by a published schema",
    differs: "the first is `run.started`, the last `run.finished`",
  },
  { about: "a slow reader gets everything" },
  { about: "a reader that leaves ends nothing but the output" },
  { about: "a full disk behind stdout is an error" },
  { about: "closed descriptors do no harm" },
  { about: "0 only for success; one table of exit codes in help, man page and README" },
  { about: "130, 143, 129 for signals; no child left, the tree as before; the second SIGINT ends at once" },
  { about: "Ctrl+Z and fg, resize: the terminal stays usable" },
  { about: "after Ctrl+C the terminal is as it was", differs: "a line says how the run ended, and what it used" },
  { about: "no terminal: no colours, no spinner, no wrapping" },
  {
    about: "a task as argument never waits for stdin that stays open and empty",
    differs: "after 200 ms one line says that it was not read",
  },
  { about: "tasks from an argument, stdin or a file; stdin beside a task is context" },
  { about: "questions only at a terminal, never with `--no-input`; else an exit code that names the flag" },
  {
    about: "`-y` answers, and never widens policy, scope or budget",
    differs: "it answers amendments of the plan, too (`--strict` grants none); it never widens policy or budget",
  },
  {
    about: "deletions and commands need a flag when nobody is asked",
    differs: "the flag for commands is `--allow-run`",
  },
  { about: "`TERM=dumb`, no TERM, tiny terminals" },
  { about: "session: Ctrl+C, Ctrl+D, history 0600, bracketed paste, several lines" },
  { about: "`CI` changes nothing silently" },
  { about: "`-h` and `help X` everywhere, without config, network or home" },
  { about: "`--version`, also as JSON", differs: "no build date: the same commit gives the same bytes" },
  { about: "no arguments and no terminal: usage, never a wait" },
  { about: "an unknown flag, command or value: one line, “did you mean”, exit 2" },
  { about: "`--flag=value`, `--flag value`, `--`, any order; a typo never becomes a paid task" },
  { about: "the usual names of flags", differs: "no `--config`: `XDG_CONFIG_HOME` names another folder" },
  { about: "help leads with examples", differs: "usage comes before them, and the exit codes at the end" },
  { about: "errors say what, why, what to do; a stack only with `--debug`" },
  { about: "a change is reported with the way back" },
  { about: "`NO_COLOR`, `--no-color`, `FORCE_COLOR`, `CLICOLOR`" },
  { about: "`--plain`: no boxes, no spinner" },
  { about: "`LC_ALL=C`: ASCII" },
  { about: "pager", void: "nothing is paged: output is append-only" },
  { about: "control characters from outside are made visible" },
  { about: "widths by grapheme" },
  { about: "progress is visible, and what is waited for" },
  { about: "completions for bash, zsh, fish, checked by the shells" },
  { about: "`pai.1` from the source of help, checked by mandoc" },
  {
    about: "XDG folders, nothing else in the home",
    differs: "named `pai-code`, settings and state only; the readable log is in the project",
  },
  { about: "flag, environment, project, user, machine, default; the origin is shown" },
  { about: "a project's settings may only narrow until trusted" },
  { about: "the runtime reads nothing of the project" },
  { about: "unknown settings warn, wrong types name file and line; a JSON Schema of the file" },
  { about: "settings are written only when asked; comments, unknown names and links stay" },
  { about: "no home, a read-only home or project, a full disk" },
  { about: "keys from environment, file, stdin; one on the command line warns; never shown" },
  { about: "`PAI_*` and the providers' own variables" },
  { about: "proxies and own certificates; loopback never proxied" },
  {
    about: "`TMPDIR` and the like",
    differs: "no `PAGER`; commands run in bash or sh, not in `$SHELL`",
  },
  { about: "umask and modes of project files" },
  { about: "files are replaced whole; what a crash leaves is taken back" },
  { about: "what is kept is 0600 in 0700; `--ephemeral` keeps nothing" },
  { about: "commands get a clean environment: no keys, no terminal, no pager" },
  { about: "no telemetry, no request to anyone but the model" },
  {
    about: "archives named by version and target: program, man page, completions, LICENSE, notices, README; .deb; npm",
  },
  { about: "`SHA256SUMS`, an optional signature, a CycloneDX bill of materials with the runtime" },
  { about: "the same commit gives the same bytes; runtimes pinned by version and integrity" },
  { about: "`install.sh` is POSIX sh, one function called on the last line; a cut download does nothing" },
  {
    about: "unattended: no question, every option also by flag or variable",
    differs: "`--from` is `--offline`, `--print-only` is `--dry-run`, `PAI_MIRROR` names the address",
  },
  { about: "needs sh, tar, a checksum tool, and curl or wget for a download; proxies work" },
  { about: "every failure of the installer is one line, nothing is left, the old program stays" },
  { about: "the new program runs before it replaces the old one, by a rename; a running pai goes on" },
  { about: "no shell file is edited; the line for PATH is printed, another pai in PATH is named" },
  { about: "`pai uninstall` removes what was installed, keeps settings without `--purge`" },
  { about: "no update by itself", differs: "no `pai update`: the line that installs also upgrades" },
  { about: "x64 without AVX, arm64, glibc 2.17, musl" },
  {
    about: "sizes and memory are stated",
    differs: "start-up time is measured by the bench, against an empty program of the same runtime",
  },
  { about: "SemVer, with what changed for users in the changelog" },
  { about: "`pai doctor` tells what is in force, exit 0 or 1" },
];

const numberOf = (at: number) => `R${String(at + 1).padStart(2, "0")}`;

/** The test files that name each rule, without ".test.ts", in order. */
function findTests(): ReadonlyMap<string, ReadonlySet<string>> {
  const folder = join(root, "test");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  const files = new Map<string, Set<string>>();
  for (const name of names.sort()) {
    const code = readFileSync(join(folder, name), "utf8").replace(/\/\*\*[\s\S]*?\*\//g, "");
    for (const [numbers] of code.matchAll(/\([^()\n]*\bR\d\d\b[^()\n]*\)(?=[^()\n]*["`])/g))
      for (const [rule] of numbers.matchAll(/\bR\d\d\b/g))
        files.set(rule, (files.get(rule) ?? new Set()).add(name.replace(".test.ts", "")));
  }
  return files;
}

function verdictOf({ differs, void: reason }: Rule, isTested: boolean): string {
  if (reason !== undefined) return `not applicable: ${reason}`;
  if (!isTested) return "not tested";
  return differs === undefined ? "holds" : `differs: ${differs}`;
}

/** Rules without a test. */
export function findUntested(): readonly string[] {
  const files = findTests();
  return rules.flatMap((rule, at) => (rule.void === undefined && !files.has(numberOf(at)) ? [numberOf(at)] : []));
}

export function renderConformance(): string {
  const files = findTests();
  const rows = rules.map((rule, at) => {
    const tests = [...(files.get(numberOf(at)) ?? [])];
    return `| ${numberOf(at)} | ${rule.about} | ${verdictOf(rule, tests.length > 0)} | ${tests.join(", ")} |\n`;
  });
  return `| rule | what it asks | pai | tests |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

const [from, to] = ["<!-- conformance -->\n", "<!-- /conformance -->"];

/** The page with a new table between its marks. Throws when a mark is missing. */
export function renewPage(text: string): string {
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  if (start < 0 || end < start) throw new Error("docs/cli.md has no place for the table");
  return `${text.slice(0, start + from.length)}${renderConformance()}${text.slice(end)}`;
}

if (import.meta.main) {
  const page = join(root, "docs/cli.md");
  writeFileSync(page, renewPage(readFileSync(page, "utf8")));
  const untested = findUntested();
  if (untested.length > 0) throw new Error(`no test names ${untested.join(", ")}`);
}
