/** A secret that a run has met, wherever it came from, is in nothing that pai says, sends or keeps but the journal, which holds files. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Answer, configure, findBinary, openPlace, type Place } from "../harness.ts";
import { called, done, modify, planned, says, talked, write } from "../replies.ts";
import { openRaw } from "../screen.ts";

const secrets = {
  file: "Zx9kQ2mR7tLp4VwA8sNd",
  task: "Qw7eRt5yUi3oPa1sDf9g",
  output: "Mn6bVc4xZl2kJh8gFd0s",
  check: "Ty5uIo9pLk3jHg7fDs1a",
  rules: "Hj4kLz8xCv2bNm6qWe0r",
  input: "Gt6yHu8jIk0lOp2zXc4v",
  commit: "Bv9cXz7lKj5hGf3dSa1p",
  words: "Po1iUy3tRe5wQa7sDf9h",
  // Hidden at its place only, since it may as well be a word.
  common: "Quok5kaaaa1",
  name: `ghp_${"Nb5vCx3zLk1jHg9f".repeat(2)}Ab`,
};
const files = {
  "deploy.txt": `db_password = "${secrets.file}"\nport = 1\n`,
  [`backup-${secrets.file}.txt`]: "old\n",
  [`of-${secrets.name}/deploy.md`]: "How to deploy.\n",
  "print.sh": `echo "api_key = '${secrets.output}'"; echo bare ${secrets.output} ${secrets.file}\n`,
  "AGENTS.md": `Use api_token = "${secrets.rules}" for tests.\n`,
};
const task = `use password = "${secrets.task}" to deploy, with a password=${secrets.common} b`;
const check = `echo 'secret_key = "${secrets.check}"'; cat deploy.txt; ls; true`;

/** All the names that a request holds: what a model can say of secrets. */
const namesIn = (body: string) => [...new Set(body.match(/<<SECRET_[a-z0-9]{4}_\d+>>/g))].join(" ");
const naming = (answer: (names: string) => Answer): Answer => ({ reply: (body) => answer(namesIn(body)) });

const withPlan: readonly Answer[] = [
  planned(["READ deploy.txt", "RUN sh print.sh", "MODIFY deploy.txt", "WRITE ok.md"], { checks: ["sh print.sh"] }),
  naming((names) => {
    const script = `${modify("deploy.txt", "port = 1\n", "port = 2\n")}${write("ok.md", "ok\n")}RUN::sh print.sh\n`;
    return done(script, `All ${names}\nREMEMBER: it is ${names}`, [`next ${names}`]);
  }),
];
const withTools: readonly Answer[] = [
  called(["read", { path: "deploy.txt" }], ["bash", { command: "sh print.sh" }], ["ls", { path: "." }]),
  naming((names) =>
    called(
      ["bash", { command: `echo '${names}' >&2; false` }],
      ["write", { path: "notes.md", content: `x ${names}\n` }],
      ["write_tasks", { tasks: [{ content: names, description: names }] }],
      ["write", { path: "ok.md", content: "ok\n" }],
    ),
  ),
  naming((names) => says(`Done ${names}`)),
];

/** What pai keeps of files is not hidden: it gives them back. */
const holdsFiles = /\/journal\//;

/** Everything that pai has written, and what was sent, by where it is. */
function everything(place: Place, said: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = { ...said };
  for (const folder of [place.home, join(place.root, ".pai_history")]) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const path = join(folder, name);
      if (statSync(path).isFile() && !holdsFiles.test(path)) all[path] = readFileSync(path, "latin1");
    }
  }
  for (const [at, { body }] of place.gemini.requests.entries()) all[`request ${at}`] = body;
  return all;
}

/** "secret in place" for each that is found. */
const found = (all: Readonly<Record<string, string>>) =>
  Object.entries(all).flatMap(([where, text]) =>
    Object.entries(secrets).flatMap(([name, value]) => (text.includes(value) ? [`${name} in ${where}`] : [])),
  );

function openSecretive(answers: readonly Answer[]): Place {
  const place = openPlace(answers, files);
  const git = (...words: readonly string[]) =>
    spawnSync("git", ["-c", "user.name=x", "-c", "user.email=x@y", ...words], { cwd: place.root });
  git("init", "-q");
  git("add", "AGENTS.md");
  git("commit", "-qm", `deploy with password: "${secrets.commit}"`);
  // Nobody listens there: what a team would be told waits in the state folder.
  configure(place, { store: { url: "postgres://u@127.0.0.1:1/x" }, memory: true });
  return place;
}

const reading: readonly (readonly string[])[] = [
  ["history"],
  ["history", "--json"],
  ["log"],
  ["log", "--json"],
  ["stats"],
  ["stats", "--json"],
  ["memory", "--json"],
  ["resume", "--list"],
  ["context", "deploy"],
  ["context", "--json", "deploy"],
  ["replay"],
  ["undo", "-y"],
  ["redo", "-y", "--json"],
  ["dashboard", "--out", "../home/report.html"],
];

for (const [way, answers, flags] of [
  ["a plan", withPlan, []],
  ["tools", withTools, ["--mode", "tool-loop"]],
] as const) {
  for (const format of [[], ["--json"], ["--jsonl"], ["--verbose"]]) {
    test.concurrent(`a run with ${way} ${format.join("")}`, async () => {
      await using place = openSecretive(answers);
      const words = ["run", "-y", "--allow-run", "--stdin", ...flags, ...format, "--check", check, task];
      const ran = await place.pai(words, { stdin: `token = "${secrets.input}"\npassword=${secrets.common}\n` });
      expect([ran.code, place.read("ok.md")]).toEqual([0, "ok\n"]);
      const said: Record<string, string> = { "the run": ran.stdout + ran.stderr };
      for (const command of format.length === 0 ? reading : []) {
        const { stdout, stderr } = await place.pai(command);
        said[command.join(" ")] = stdout + stderr;
      }
      const all = everything(place, said);
      expect(Object.keys(all).filter((where) => /outbox|\/runs\/|\.pai_history/.test(where)).length).toBeGreaterThan(2);
      expect(found(all)).toEqual([]);
      expect(ran.stdout).toContain("<<SECRET_");
    });
  }
}

test.concurrent("an answer of a form, and a run that fails", async () => {
  const schema = '{"type": "object", "properties": {"why": {"type": "string"}}, "required": ["why"]}';
  const answer = naming((names) => talked(JSON.stringify({ why: names })));
  await using place = openSecretive([answer, answer]);
  await place.shell(`echo '${schema}' > ../spare/form.json`);
  const formed = await place.pai(["run", "--output-schema", "../spare/form.json", task]);
  await using other = openSecretive([...withPlan, naming((names) => done("", `No ${names}`)), done("", "no")]);
  const failed = await other.pai(["run", "-y", "--allow-run", "--check", `${check}; test ! -e ok.md`, task]);
  expect([formed.code, failed.code]).toEqual([0, 9]);
  expect(found(everything(place, { formed: formed.stdout + formed.stderr }))).toEqual([]);
  expect(found(everything(other, { failed: failed.stdout + failed.stderr }))).toEqual([]);
});

test.concurrent("a session: what is typed, answered, said of a plan and run at its prompt", async () => {
  const plan = withPlan[0] ?? {};
  await using place = openSecretive([plan, plan, withPlan[1] ?? {}, naming((names) => talked(`So ${names}`))]);
  const terminal = openRaw(place, ["--allow-run"], { LANG: "C.UTF-8" });
  const steps: readonly (readonly [seen: RegExp, typed: string])[] = [
    [/pai> /, task],
    [/what to change: /, `no, use password = "${secrets.words}" please, not password=${secrets.common} a`],
    [/Carry out[\s\S]*Carry out[\s\S]*what to change: /, "y"],
    [/next steps[\s\S]*pai> /, `!echo 'api_key = "${secrets.output}" password=${secrets.common}'`],
    [/goes with your next message[\s\S]*pai> /, `what is ${secrets.file} to you?`],
    [/So <<SECRET[\s\S]*pai> /, "exit"],
  ];
  for (const [seen, typed] of steps) {
    await terminal.sees(seen);
    terminal.type(`${typed}\r`);
  }
  await terminal.exited;
  const listed = await place.pai(["resume", "--list"]);
  const all = everything(place, { listed: listed.stdout + listed.stderr });
  expect(Object.keys(all).filter((where) => /input\.jsonl|\/sessions\/|memory\.json/.test(where)).length).toBe(3);
  expect(found(all)).toEqual([]);
});

/** Speaks lines of JSON to a server and gives all that it says, until the answer of that id has come. */
async function converse(place: Place, words: readonly string[], lines: readonly object[], last: number) {
  const server = Bun.spawn([findBinary(), ...words], {
    cwd: place.root,
    env: place.env,
    stdin: "pipe",
    stderr: "pipe",
  });
  for (const line of lines) server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`);
  await server.stdin.flush();
  let heard = "";
  for await (const bytes of server.stdout) {
    heard += new TextDecoder().decode(bytes);
    if (heard.split("\n").some((line) => line.includes(`"id":${last},`) || line.endsWith(`"id":${last}}`))) break;
  }
  await server.stdin.end();
  return heard + (await new Response(server.stderr).text());
}

test.concurrent("what other agents are told", async () => {
  await using place = openSecretive(withPlan);
  const call = (id: number, name: string, input: object) => ({
    id,
    method: "tools/call",
    params: { name, arguments: input, _meta: { progressToken: id } },
  });
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const lines = [
    { id: 1, method: "initialize", params: hello },
    { method: "notifications/initialized" },
    call(2, "run", { task }),
    call(3, "history", {}),
    call(4, "context", { task: "deploy" }),
  ];
  const heard = await converse(place, ["mcp", "-y", "--allow-run", "--check", check], lines, 4);
  expect(heard).toContain("<<SECRET_");
  expect([place.read("ok.md"), found(everything(place, { heard }))]).toEqual(["ok\n", []]);
});

/** Lines of a private key, made here so that no scanner takes this file for a leak. */
const keyLines = [1, 2, 3, 4, 5, 6].map((seed) =>
  Buffer.from(Array.from({ length: 48 }, (_, at) => (at * 37 + seed * 101) % 251)).toString("base64"),
);
const keyFile = `-----BEGIN RSA PRIVATE KEY-----\n${keyLines.join("\n")}\n-----END RSA PRIVATE KEY-----\nport=1\n`;
/** So much that no request shows the key. */
const others = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`src/${at}.txt`, "words ".repeat(1_200)]));

for (const format of [[], ["--json"], ["--jsonl"]]) {
  test.concurrent(`a diff beside a private key that no call read shows nothing of it ${format.join("")}`, async () => {
    const command = "sed -i s/port=1/port=2/ deploy/key.txt";
    const answers = [called(["bash", { command }]), says("Done.")];
    await using place = openPlace(answers, { "deploy/key.txt": keyFile, ...others });
    const run = await place.pai(["run", "-y", ...format, "--allow-run", "--mode", "tool-loop", "change the port"]);
    expect(place.read("deploy/key.txt")).toContain("port=2");
    await place.pai(["dashboard", "--out", "../home/report.html"]);
    const undo = await place.pai(["undo", "--dry-run", ...format.slice(0, 1).map(() => "--json")]);
    expect(undo.stdout).toContain("port=1");
    const undone = await place.pai(["undo", "-y"]);
    const redone = await place.pai(["redo", "-y", "--json"]);
    expect([run.code, undo.code, undone.code, redone.code]).toEqual([0, 0, 0, 0]);
    const said = { run, undo, undone, redone };
    const all = everything(
      place,
      Object.fromEntries(Object.entries(said).map(([name, { stdout, stderr }]) => [name, stdout + stderr])),
    );
    const holders = Object.keys(all).filter((where) => keyLines.some((line) => all[where]?.includes(line)));
    expect(holders).toEqual([]);
  });
}
