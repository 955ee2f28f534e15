/** What sort of file a path names, as far as its name tells, and how likely a change is in such a file. Pure. */

export type Kind = "code" | "side" | "test" | "document" | "changelog" | "generated";

const weights: Readonly<Record<Kind, number>> = {
  code: 1,
  side: 0.5,
  test: 0.35,
  document: 0.3,
  changelog: 0.1,
  generated: 0.02,
};

const codeEndings = new Set(
  (
    "ts tsx mts cts js jsx mjs cjs vue svelte astro py pyi pyx ipynb go rs java kt kts scala groovy cs fs vb c h cc cpp cxx hh hpp hxx m mm " +
    "swift rb erb php phtml lua pl pm r jl dart ex exs erl hrl clj cljs cljc hs elm ml mli nim zig v sv vhd sol sh bash zsh fish " +
    "ps1 psm1 bat cmd sql graphql gql proto thrift css scss sass less html htm hbs ejs pug twig jinja j2 tf hcl nix cmake mk s asm awk el lisp scm tcl cr d pas f90 cu wgsl glsl"
  ).split(" "),
);

const generated =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|composer\.lock|gemfile\.lock|poetry\.lock|pipfile\.lock|uv\.lock|cargo\.lock|go\.sum|go\.work\.sum|flake\.lock|packages\.lock\.json|mix\.lock|pubspec\.lock|podfile\.lock|deno\.lock)$|\.(?:map|lock|snap|min\.(?:js|css|mjs))$|(?:^|[._-])generated\.|\.(?:pb|g|gen)\.(?:go|cc|h|dart|cs|ts)$|_pb2(?:_grpc)?\.pyi?$|(?:^|\/)(?:__snapshots__|dist|node_modules|__generated__)\//;
const changelog =
  /(?:^|\/)(?:changes?|change-?logs?|history|news|releases?|release[-_]notes?|whatsnew|upgrad(?:e|ing)|migrat(?:e|ing|ion))(?:[-_.][\w.-]*)?(?:\.(?:md|rst|txt|adoc|ya?ml|html))?$|(?:^|\/)(?:changelogs?|changes|\.changeset|newsfragments|changelog\.d|releasenotes|porting_guides?)\//;
const test =
  /(?:^|\/)(?:tests?|testing|specs?|__tests__|__mocks__|e2e|fixtures?|testdata|test[-_]\w+|integration[-_]tests?|unit[-_]tests?)\/|(?:[._-](?:test|tests|spec|bench|e2e)|_test)\.[a-z0-9]+$|(?:^|\/)(?:test_[^/]*|conftest)\.py$|(?:^|\/)[^/]+tests?\.(?:java|kt|cs|swift|php|scala)$/;
const documents =
  /\.(?:md|mdx|markdown|rst|txt|adoc|asciidoc|org|tex|pod|1|man)$|(?:^|\/)(?:license|copying|notice|authors|contributors|readme|maintainers|codeowners)[^/]*$/;
const samples = /(?:^|\/)(?:examples?|samples?|demos?|playground|tutorials?)\//;
const side =
  /(?:^|\/)(?:docs?|documentation|website|site|vendor|vendored|third[-_]?party|external|scripts?|tools?|tooling|ci|\.github|\.circleci|\.azure-pipelines|\.gitlab|hacking|benchmarks?|bench|contrib|packaging|build)\//;
const build =
  /(?:^|\/)(?:makefile|dockerfile|containerfile|rakefile|gemfile|jenkinsfile|vagrantfile|procfile|justfile|cmakelists\.txt)$/;

/** By the path alone, which may be in any case. */
export function kindOf(path: string): Kind {
  const lower = path.toLowerCase();
  if (generated.test(lower)) return "generated";
  if (changelog.test(lower) && !isCode(lower)) return "changelog";
  if (test.test(lower)) return "test";
  if (documents.test(lower) || samples.test(lower)) return "document";
  if (!isCode(lower)) return "document";
  return side.test(lower) ? "side" : "code";
}

const isCode = (lower: string) => codeEndings.has(lower.slice(lower.lastIndexOf(".") + 1)) || build.test(lower);

const asks: readonly (readonly [Kind, RegExp])[] = [
  ["test", /\b(?:unit ?tests?|tests?|testing|specs?|coverage|pengujian|uji)\b/i],
  [
    "document",
    /\b(?:docs?|documents?|documentation|docstrings?|readme|guide|tutorial|typos?|dokumentasi|examples?|samples?|yaml|json|toml|config(?:uration)?|settings?|markdown)\b/i,
  ],
  ["changelog", /\b(?:change-?log|release notes?|changes file|news)\b/i],
  ["side", /\b(?:scripts?|ci|workflows?|pipeline|tooling|vendor|build|docs?|website|benchmarks?|packaging|release)\b/i],
];

/** Weight of each kind for a request: a kind that it asks for counts like code, or nearly. */
export function kindWeights(request: string): Readonly<Record<Kind, number>> {
  const [first = ""] = request.trim().split(/\r?\n\s*\r?\n/);
  const lifted = asks.filter(([, words]) => words.test(first)).map(([kind]) => [kind, 0.7] as const);
  return { ...weights, ...Object.fromEntries(lifted) };
}

const legal =
  /(?:^|\/)(?:licen[cs]es?|copying|copyright|notice|patents|authors|contributors|code[-_]of[-_]conduct)(?:[-_.][\w.-]*)?$/i;

/** Whether a file may be shown for a request: what is generated or legal text only where it is asked for. */
export function isShowable(path: string, kind: Kind, request: string): boolean {
  if (kind === "generated") return false;
  return !legal.test(path) || /\b(?:licen[cs]e|copyright|notice|authors|contributors|conduct|lisensi)\b/i.test(request);
}
