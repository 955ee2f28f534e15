/** The layer table: who may import whom. This table is the architecture. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const packages = {
  system: ["bun:ffi"],
  core: ["zod", "diff", "@cfworker/json-schema"],
  flows: [],
  models: ["@google/generative-ai"],
  actions: ["zod"],
  workspace: ["ignore", "bun", "bun:ffi", "bun:sqlite"],
  store: ["zod", "bun", "bun:sqlite", "jsonc-parser"],
  ui: ["@speed-highlight/core", "picocolors", "consola", "diff"],
  acp: ["@agentclientprotocol/sdk", "diff"],
  mcp: [],
  lab: ["bun", "bun:sqlite", "zod"],
  cli: ["citty", "zod"],
  ".": [],
} as const;

const layers: Record<keyof typeof packages, readonly string[]> = {
  system: ["core"],
  core: [],
  flows: ["core"],
  models: ["core"],
  actions: ["core"],
  workspace: ["core", "system"],
  store: ["core", "system"],
  ui: ["core"],
  acp: ["core"],
  mcp: ["core"],
  cli: ["acp", "mcp", "core", "flows", "models", "actions", "workspace", "store", "ui", "system", "lab"],
  lab: ["core", "store", "system", "flows", "workspace", "ui", "cli"],
  ".": ["cli", "core"],
};

/** Who may import the lab: the rows of its commands and the one way to its door; types may come from the door. */
const waysToLab = ["cli/command-table.ts", "cli/lab.ts"];

const src = join(import.meta.dir, "../src");
const tests = readdirSync(import.meta.dir, { recursive: true, encoding: "utf8" }).filter((name) => /\.ts$/.test(name));
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const layerOf = (file: string) => (dirname(file).split("/")[0] ?? ".") as keyof typeof layers;
const importsOf = (file: string) =>
  [
    ...readFileSync(join(src, file), "utf8").matchAll(/(?:\bfrom\s+|\bimport\s+|\b(?:import|require)\(\s*)"([^"]+)"/g),
  ].map((m) => m[1] ?? "");

test("every file imports only its own layer, the layers below it, and the packages of its layer", () => {
  const wrong: string[] = [];
  for (const file of files) {
    const layer = layerOf(file);
    for (const name of importsOf(file)) {
      const target = name.startsWith(".") ? layerOf(normalize(join(dirname(file), name))) : null;
      const allowed =
        target !== null
          ? target === layer || layers[layer].includes(target)
          : name.startsWith("node:") ||
            (packages[layer] as readonly string[]).includes(name.replace(/^((@[^/]+\/)?[^/]+).*/, "$1"));
      if (!allowed) wrong.push(`${file} imports ${name}`);
    }
  }
  expect(wrong).toEqual([]);
});

/** The files that a command has loaded when it starts, each with what it imports. */
function loadedAtStart(file: string): ReadonlyMap<string, readonly string[]> {
  const packagesOf = new Map<string, readonly string[]>();
  const visit = (at: string) => {
    if (packagesOf.has(at)) return;
    const names = [...readFileSync(join(src, at), "utf8").matchAll(/^import (?!type\b)[^;]*?from "([^"]+)";/gm)];
    const all = names.map(([, name = ""]) => name);
    packagesOf.set(at, all);
    for (const name of all) if (/^\..*\.ts$/.test(name)) visit(normalize(join(dirname(at), name)));
  };
  visit(file);
  return packagesOf;
}

test("only the rows of its commands and one way lead into the lab", () => {
  const into = files.filter((file) => {
    const text = readFileSync(join(src, file), "utf8").replace(/^import type .*"[./]+lab\/door\.ts";$/gm, "");
    return layerOf(file) !== "lab" && /(?:from|import\()\s*"[./]+\/lab\/(?!\.)/.test(text);
  });
  expect(into.sort()).toEqual(waysToLab);
});

test("a task without a store, caps of a day or statistics loads nothing of them", () => {
  const loaded = [...loadedAtStart("cli/commands/task.ts").keys(), ...loadedAtStart("cli/commands/help.ts").keys()];
  expect(loaded.filter((file) => file.startsWith("lab/"))).toEqual([]);
});

test("no two files export the same name", () => {
  const owners = new Map<string, string[]>();
  for (const file of files) {
    const text = readFileSync(join(src, file), "utf8");
    const shape = /^export (?:async )?(?:function\*?|const|interface|type|class) +(\w+)/gm;
    for (const name of new Set([...text.matchAll(shape)].map(([, found = ""]) => found)))
      owners.set(name, [...(owners.get(name) ?? []), file]);
  }
  expect([...owners].filter(([, held]) => held.length > 1)).toEqual([]);
});

test("every file says in its first line what it is for", () => {
  const silent = files.filter((file) => !/^(#!.*\n)?\/\*\* .+/.test(readFileSync(join(src, file), "utf8")));
  expect(silent).toEqual([]);
});

test("a file has at most 400 lines", () => {
  const all = ["src", "test", "scripts"].flatMap((folder) =>
    readdirSync(join(src, "..", folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.startsWith("scenarios/"))
      .map((name) => `${folder}/${name}`),
  );
  const linesOf = (name: string) => readFileSync(join(src, "..", name), "utf8").split("\n").length - 1;
  expect(all.filter((name) => linesOf(name) > 400)).toEqual([]);
});

/** Lines that a room may have. A budget goes up only with a reason that its commit gives. */
const budgets = {
  core: 13_357,
  workspace: 10_968,
  cli: 9_825,
  flows: 10_366,
  models: 3_920,
  ui: 4_052,
  store: 3_322,
  lab: 3_610,
  acp: 1_020,
  actions: 970,
  mcp: 550,
  system: 475,
  ".": 100,
};

test("no room has more lines than its budget", () => {
  const lines = new Map<string, number>();
  for (const file of files) {
    const count = readFileSync(join(src, file), "utf8").split("\n").length - 1;
    lines.set(layerOf(file), (lines.get(layerOf(file)) ?? 0) + count);
  }
  expect([...lines].filter(([room, count]) => count > budgets[room as keyof typeof budgets])).toEqual([]);
});

/** Who writes each part of a run: files, or folders. */
const writers = {
  acting: ["flows/approval.ts"],
  calling: ["flows/ask.ts"],
  changing: ["flows/changes/", "flows/perform.ts"],
  checking: ["flows/checks/"],
  ending: [
    ...["flows/ending/", "flows/eight-step.ts", "flows/single-shot.ts", "flows/tool-loop/", "flows/planning.ts"],
    ...["flows/plans/", "flows/phases.ts", "flows/replies.ts"],
  ],
  planning: [
    ...["flows/planning.ts", "flows/plans/", "flows/approval.ts", "flows/auto.ts", "flows/evidence.ts"],
    ...["flows/eight-step.ts", "flows/replies.ts"],
  ],
  reading: ["flows/briefing/", "flows/planning.ts", "flows/evidence.ts"],
  shell: ["flows/commands/"],
};

test("only its owners write a part of a run", () => {
  const writing = new RegExp(`\\b(${Object.keys(writers).join("|")})\\.\\w+ (?:[-+?|&]{0,2}=) `, "g");
  const written = files.flatMap((file) =>
    [...readFileSync(join(src, file), "utf8").matchAll(writing)].map(([, part = ""]) => [part, file] as const),
  );
  expect(new Set(written.map(([part]) => part)).size).toBe(Object.keys(writers).length);
  const isOwner = ([part, file]: readonly [string, string]) =>
    writers[part as keyof typeof writers].some((owner) => file.startsWith(owner));
  expect(written.filter((each) => !isOwner(each))).toEqual([]);
});

test("tests that run beside each other do not wait by .rejects or .resolves, which drops events of the others", () => {
  const tests = new Bun.Glob("**/*.test.ts").scanSync({ cwd: import.meta.dir });
  const waiting = [...tests].filter((name) => {
    const source = readFileSync(join(import.meta.dir, name), "utf8");
    return source.includes("test.concurrent") && /\)\.(?:rejects|resolves)\./.test(source);
  });
  expect(waiting).toEqual([]);
});

test("core touches neither the file system nor the process", () => {
  const impure = files.filter(
    (file) => layerOf(file) === "core" && importsOf(file).some((name) => /^(node:|bun)/.test(name)),
  );
  expect(impure).toEqual([]);
});

/** MCP servers that the user said yes to; the page for the person's own browser on loopback; the user's own database. */
const listed = ["cli/compose/mcp-tools.ts", "lab/dashboard/serve.ts", "lab/team/team-store.ts"];

test("only models talks to the network, and what is listed", () => {
  const network =
    /(?<![.\w])fetch\(|\bBun\.(?:connect|listen|serve|udpSocket|SQL)\(|\bnew SQL\(|"node:(?:net|tls|dgram|dns|https?|http2)"/;
  const talking = files.filter((file) => network.test(readFileSync(join(src, file), "utf8")));
  expect(talking.filter((file) => layerOf(file) !== "models").sort()).toEqual(listed);
  expect(talking).not.toEqual([]);
});

/** Where secrets are hidden in what leaves pai, each text once; everything behind these doors hides nothing. */
const doors = {
  "what is sent to a model": ["flows/ask.ts", "flows/tool-loop/compact.ts", "cli/session/rewind.ts"],
  "what is seen or kept of a run": ["flows/run-task.ts"],
  "what is seen outside of a run": [
    "ui/log.ts",
    "ui/command-document.ts",
    "cli/start.ts",
    "cli/commands/doctor.ts",
    "cli/commands/trust.ts",
  ],
  "what the user types, and pai keeps": ["store/sessions.ts", "store/memory.ts", "store/input-history.ts"],
  "what another program gets": ["cli/compose/notify-end.ts", "core/tool-calls.ts"],
  "what is cut, so that half a key no longer looks like one": [
    "flows/ending/afterwards.ts",
    "flows/json-reply.ts",
    "lab/eval/candidate.ts",
    "workspace/command/start-tool.ts",
    "models/wire/http-errors.ts",
    "models/wire/replies.ts",
    "cli/compose/key-command.ts",
    "cli/session/own-command.ts",
    "store/prompt-files.ts",
    "mcp/client.ts",
  ],
};

test("key-shaped text is hidden at the doors, and nowhere else", () => {
  const hiding = /\b(?:maskSecrets|maskAll|hideMessage)\(|\b(?:veil|secrets)\.show\(/;
  const found = files.filter((file) => hiding.test(readFileSync(join(src, file), "utf8")));
  expect(found.filter((file) => !file.startsWith("core/secrets/")).sort()).toEqual(Object.values(doors).flat().sort());
});

test("every dependency of package.json is imported by src", () => {
  const { dependencies } = JSON.parse(readFileSync(join(src, "../package.json"), "utf8"));
  const source = files.map((file) => readFileSync(join(src, file), "utf8")).join("\n");
  const isUsed = (name: string) => new RegExp(`(?:from |import\\(|require\\()"${name}["/]`).test(source);
  expect(Object.keys(dependencies).filter((name) => !isUsed(name))).toEqual([]);
});

test("docs/architecture.md names files and folders that exist", () => {
  const text = readFileSync(join(src, "../docs/architecture.md"), "utf8");
  const rooms = new RegExp(`^(?:${Object.keys(layers).slice(0, -1).join("|")}|test)/[\\w./-]*$`);
  const named = [...text.matchAll(/`([^`\s]+)`/g)].map(([, name = ""]) => name).filter((name) => rooms.test(name));
  expect(named.length).toBeGreaterThan(40);
  const isThere = (name: string) => existsSync(join(src, name)) || existsSync(join(src, "..", name));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test("a test says what it needs by test/needs.ts, and makes its folders below the grounds of the run", () => {
  const words = {
    "needs.ts": /\b(?:test|describe)\b[\w.]*\.(?:skip|todo|if)\b|\.(?:skip|todo)If\(/,
    "grounds.ts": /mkdtemp\w*\(\s*["'`]|mktemp |homedir\(\)/,
  };
  const wrong = Object.entries(words).flatMap(([home, word]) =>
    tests.filter(
      (name) =>
        ![home, "architecture.test.ts", "runner.test.ts"].includes(name) &&
        word.test(readFileSync(join(import.meta.dir, name), "utf8")),
    ),
  );
  expect(wrong).toEqual([]);
});
