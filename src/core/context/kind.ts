/** What kind of file a path names, judged by its name, and how likely a change to such a file is. Pure. */
import { nameOf } from "../path.ts";

export type Kind = "code" | "side" | "test" | "document" | "changelog" | "generated";

const weights: Readonly<Record<Kind, number>> = {
  code: 1,
  side: 0.5,
  test: 0.35,
  document: 0.3,
  changelog: 0.1,
  generated: 0.02,
};

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const codeEndings = words(
  "ts tsx mts cts js jsx mjs cjs vue svelte astro py pyi pyx ipynb go rs java kt kts scala groovy cs fs vb c h cc cpp cxx hh hpp hxx m mm " +
    "swift rb erb php phtml lua pl pm r jl dart ex exs erl hrl clj cljs cljc hs elm ml mli nim zig v sv vhd sol sh bash zsh fish " +
    "ps1 psm1 bat cmd sql graphql gql proto thrift css scss sass less html htm hbs ejs pug twig jinja j2 tf hcl nix cmake mk s asm awk el lisp scm tcl cr d pas f90 cu wgsl glsl",
);
const documentEndings = words("md mdx markdown rst txt adoc asciidoc org tex pod 1 man");
const generatedEndings = words("map lock snap");
/** In addition to names that end in `.lock`. */
const generatedNames = words(
  "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb go.sum go.work.sum packages.lock.json",
);
const generatedFolders = words("__snapshots__ dist node_modules __generated__");
const changelogFolders = words(
  "changelog changelogs changes .changeset newsfragments changelog.d releasenotes porting_guide porting_guides",
);
const sampleFolders = words("example examples sample samples demo demos playground tutorial tutorials");
const foreignFolders = words("vendor vendored third-party third_party thirdparty external");
const sourceFolders = words("src lib");
/** Above the source: below it the names are those of its parts. */
const sideFolders = words(
  "doc docs documentation website site script scripts tool tools tooling ci .github .circleci .azure-pipelines .gitlab " +
    "hacking contrib packaging build",
);
const buildNames = words(
  "makefile dockerfile containerfile rakefile gemfile jenkinsfile vagrantfile procfile justfile cmakelists.txt",
);

const generated =
  /\.min\.(?:js|css|mjs)$|(?:^|[._-])generated\.|\.(?:pb|g|gen)\.(?:go|cc|h|dart|cs|ts)$|_pb2(?:_grpc)?\.pyi?$/;
const changelog =
  /^(?:changes?|change-?logs?|history|news|releases?|release[-_]notes?|whatsnew|upgrad(?:e|ing)|migrat(?:e|ing|ion))(?:[-_.][\w.-]*)?(?:\.(?:md|rst|txt|adoc|ya?ml|html))?$/;
const test =
  /(?:^|\/)(?:tests?|testing|specs?|__tests__|__mocks__|e2e|fixtures?|testdata|test[-_]\w+|integration[-_]tests?|unit[-_]tests?|bench(?:es|marks?)?)\/|^(?:play(?:ground)?|scratch)\.[a-z]+$|[._-](?:test|tests|bench|e2e)\.[a-z0-9]+$|(?:\.spec\.[a-z0-9]+|[_-]spec\.(?:rb|[cm]?[jt]sx?|lua|cr|coffee|moon|fnl))$|(?:^|\/)(?:test_[^/]*|conftest)\.py$|(?:^|\/)[^/]+tests?\.(?:java|kt|cs|swift|php|scala)$/;
const documentNames = /^(?:license|copying|notice|authors|contributors|readme|maintainers|codeowners)/;

type Parts = ReturnType<typeof partsOf>;

/** `ending`: after the last dot; "": there is none. */
function partsOf(path: string) {
  const lower = path.toLowerCase();
  const folders = lower.split("/");
  const name = folders.pop() ?? "";
  const dot = name.lastIndexOf(".");
  return { lower, folders, name, ending: dot < 0 ? "" : name.slice(dot + 1) };
}

const isIn = (folders: readonly string[], set: ReadonlySet<string>) => folders.some((folder) => set.has(folder));
const isCode = ({ name, ending }: Parts) => codeEndings.has(ending) || buildNames.has(name);

export const isCodeFile = (path: string): boolean => isCode(partsOf(path));

function isGenerated({ lower, folders, name, ending }: Parts): boolean {
  const isNamed = generatedNames.has(name) || generatedEndings.has(ending) || isIn(folders, generatedFolders);
  return isNamed || generated.test(lower);
}

const isProseOf = ({ name, ending }: Parts) => documentEndings.has(ending) || documentNames.test(name);

/** Whether a file of the kind "document" is one to read; else it is an example, a setting or data. */
export const isProse = (path: string): boolean => isProseOf(partsOf(path));

export function kindOf(path: string): Kind {
  const parts = partsOf(path);
  const { lower, folders, name } = parts;
  if (isGenerated(parts)) return "generated";
  if (!isCode(parts) && (isIn(folders, changelogFolders) || changelog.test(name))) return "changelog";
  if (test.test(lower)) return "test";
  if (isProseOf(parts) || isIn(folders, sampleFolders) || !isCode(parts)) return "document";
  const source = folders.findIndex((folder) => sourceFolders.has(folder));
  const above = source < 0 ? folders : folders.slice(0, source);
  return isIn(folders, foreignFolders) || isIn(above, sideFolders) ? "side" : "code";
}

export type Paths = Pick<ReadonlySet<string>, "has">;

/** Whether a file is generated from one beside it: `x.js` from `x.ts`, `x.d.ts` from `x.js`. */
function isTwin(path: string, exists: Paths): boolean {
  const declared = /^(.*)\.d\.([mc]?)ts$/.exec(path);
  if (declared !== null)
    return exists.has(`${declared[1]}.${declared[2]}js`) || exists.has(`${declared[1]}.${declared[2]}ts`);
  const script = /^(.*)\.([mc]?)js(x?)$/.exec(path);
  if (script === null) return false;
  const [, stem, module, x] = script;
  return exists.has(`${stem}.${module}ts${x}`) || exists.has(`${stem}.${module}tsx`);
}

export const kindAmong = (path: string, exists: Paths): Kind => (isTwin(path, exists) ? "generated" : kindOf(path));

const asks: readonly (readonly [Kind, RegExp])[] = [
  ["test", /\b(?:unit ?tests?|tests?|testing|specs?|coverage|benchmarks?|pengujian|uji)\b/i],
  [
    "document",
    /\b(?:docs?|documents?|documentation|docstrings?|readme|guide|tutorial|typos?|dokumentasi|examples?|samples?|yaml|json|toml|config(?:uration)?|settings?|markdown)\b/i,
  ],
  ["changelog", /\b(?:change-?log|release notes?|changes file|news)\b/i],
  ["side", /\b(?:scripts?|ci|workflows?|pipeline|tooling|vendor|build|docs?|website|packaging|release)\b/i],
];

/** The weight of each kind for a request: a kind that the request asks for counts nearly as much as code. */
export function kindWeights(request: string): Readonly<Record<Kind, number>> {
  const [first = ""] = request.trim().split(/\r?\n\s*\r?\n/);
  const lifted = asks.filter(([, words]) => words.test(first)).map(([kind]) => [kind, 0.7] as const);
  return { ...weights, ...Object.fromEntries(lifted) };
}

const legal =
  /(?:^|\/)(?:licen[cs]es?|copying|copyright|notice|patents|authors|contributors|code[-_]of[-_]conduct)(?:[-_.][\w.-]*)?$/i;

const asksLegal = /\b(?:licen[cs]e|copyright|notice|authors|contributors|conduct|lisensi)\b/i;

/** Whether a file is a legal text that a request does not ask for; it is neither ranked nor shown. */
export const isAside = (path: string, request: string): boolean =>
  legal.test(path) && !asksLegal.test(request) && !request.includes(nameOf(path));

export const isShowable = (path: string, kind: Kind, request: string): boolean =>
  kind !== "generated" && !isAside(path, request);

/** A table has at least so many rows, and so large a share of them begins with the same word. */
const table = { rows: 10, share: 0.8 } as const;

/** A row that gives one code for another, as in `koi-utf`. */
const codes = /^[\da-f]{2,4}[ \t]+[\da-f]{4,8}\b/i;

/** Whether lines of a file that is no code begin alike, as in `fastcgi_params`, or give a code for another. */
export function isTable(path: string, text: string): boolean {
  if (isCode(partsOf(path))) return false;
  const words = [...text.matchAll(/^[ \t]*(([^\s#;]+).*)/gm)].map(([, row = "", word]) =>
    codes.test(row) ? "" : word,
  );
  const counts = new Map<string | undefined, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return words.length >= table.rows && Math.max(...counts.values()) >= table.share * words.length;
}

/** Whether a file is a changelog of which only the head is shown where no lines are named. `size`: characters. */
export const isLongChangelog = (path: string, size: number): boolean => size > 4_000 && kindOf(path) === "changelog";
