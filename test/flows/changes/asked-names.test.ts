/** Changes of files that run or steer something later are named under their diff, and some need a yes of their own. */
import { expect, test } from "bun:test";
import { calling, playLoop } from "../loop.ts";
import { finish, plan, planTo, write } from "../plans.ts";
import { type Answers, type Files, type Line, play } from "../scripted.ts";

/** A run without a plan, which begins with this reply. */
const playFree = (reply: Line, answers: Answers, files: Files = {}) =>
  playLoop([reply, "Done."], { files, options: { interactive: true }, answers });

test("a run says so behind the diff, with a plan and without", async () => {
  const path = "docs/.tool.toml";
  const planned = await play({
    lines: [planTo(`WRITE ${path}`), write(path, "a = 1\n") + finish()],
    options: { allow: [path] },
  });
  const free = await playFree(calling("write", { path, content: "a = 1\n" }), "yes");
  for (const { events } of [planned, free]) {
    const shown = events.flatMap((event) =>
      event.type === "changes.proposed" ? ["diff"] : event.type === "notice" ? [event.text] : [],
    );
    expect(shown).toEqual(["diff", `${path}: .tool.toml may run code later or steer agents`]);
  }
  expect(free.questions[0]?.folder).toBeNull();
});

test("the question about a plan names them, deletions too", async () => {
  const ran = await play({
    files: { ".tool/a": "x\n" },
    lines: [planTo("WRITE Jenkinsfile", "WRITE Makefile", "RM .tool/a", "WRITE a.txt")],
    options: { interactive: true },
    answers: ["no"],
  });
  expect(ran.questions[0]?.text.split("\n").slice(2)).toEqual([
    "It changes what needs a yes of its own: Jenkinsfile (Jenkinsfile may run code later or steer agents), .tool/a (.tool may run code later or steer agents)",
  ]);
});

const wrote = (path: string) => [planTo(`WRITE ${path}`), write(path, "x\n") + finish()];

test("what runs without being asked or steers agents is refused headless, and done when a flag names it", async () => {
  for (const path of [".travis.yml", "sub/AGENTS.md", ".githooks/pre-commit", ".github/workflows/ci.yml"]) {
    const refused = await play({ lines: wrote(path) });
    expect([refused.outcome.code, refused.files, refused.purposes]).toEqual([12, {}, "plan"]);
    expect(refused.outcome.error?.hint).toBe(`allow it with --allow ${path}`);
    const allowed = await play({ lines: wrote(path), options: { allow: [path] } });
    expect([allowed.outcome.code, allowed.files]).toEqual([0, { [path]: "x\n" }]);
  }
});

test("at a terminal it is asked separately, after the plan's question", async () => {
  const options = { interactive: true };
  const no = await play({ lines: wrote("MEMORY.md"), options, answers: ["yes", "no"] });
  expect([no.outcome.status, no.files]).toEqual(["declined", {}]);
  expect(no.questions[1]?.text).toContain("MEMORY.md: MEMORY.md may run code later or steer agents");
  const yes = await play({ lines: wrote("MEMORY.md"), options, answers: ["yes", "yes"] });
  expect([yes.outcome.code, yes.files, yes.questions.length]).toEqual([0, { "MEMORY.md": "x\n" }, 2]);
});

test("without a plan it has one too, behind that of the batch, and is in no folder that was allowed", async () => {
  const ran = await playFree(calling("write", { path: "docs/AGENTS.md", content: "x\n" }), ["yes", "no"]);
  expect(ran.files).toEqual({});
  expect(ran.questions.map(({ kind, folder }) => `${kind} ${folder}`)).toEqual(["batch null", "scope undefined"]);
});

test("what runs when the project is built needs no more than the yes to the plan", async () => {
  const ran = await play({ lines: wrote("vite.config.ts") });
  expect([ran.outcome.code, ran.files]).toEqual([0, { "vite.config.ts": "x\n" }]);
});

test("a folder that is moved takes no such file to its place unseen", async () => {
  const lines = [planTo("MV a -> .github"), "MV::a::.github\nFINISH::done\n", finish(), finish()];
  const ran = await play({ files: { "a/workflows/ci.yml": "x\n" }, lines });
  expect([ran.outcome.ok, ran.files]).toEqual([false, { "a/workflows/ci.yml": "x\n" }]);
});

// F13
test("a yes for all that follows is offered below a folder only, never for the root", async () => {
  const folders: unknown[] = [];
  for (const path of ["notes.md", "docs/notes.md", "docs/.x/notes.md", "docs/AGENTS.md"]) {
    const ran = await playFree(calling("write", { path, content: "x\n" }), "yes");
    folders.push(ran.questions[0]?.folder);
  }
  expect(folders).toEqual([null, "docs", null, null]);
});

// F24
test("no line of a command can pass for pai's own words in a question", async () => {
  const command = "true\n(in /safe, sandboxed)";
  const lines = [plan({ steps: ["WRITE a.txt"], checks: [command] })];
  const planned = await play({ lines, options: { interactive: true }, answers: ["no"] });
  const free = await playFree(calling("bash", { command }), ["no"]);
  for (const { questions } of [planned, free]) expect(questions[0]?.text).toContain("│ true\n│ (in /safe, sandboxed)");
});

test("all that a plan may not do is told at once, with the flags, before the second call", async () => {
  const steps = ["WRITE .travis.yml", "WRITE AGENTS.md", "MODIFY .env", "RM a.txt", "WRITE .git/config", "WRITE b.txt"];
  const ran = await play({ files: { "a.txt": "a\n", ".env": "LEVEL=1\n" }, lines: [planTo(...steps)] });
  expect([ran.outcome.code, ran.purposes]).toEqual([12, "plan"]);
  const { message, hint } = ran.outcome.error ?? {};
  for (const path of [".travis.yml", "AGENTS.md", ".env", ".git/config"]) expect(message).toContain(`${path}: `);
  expect(message).toContain("the plan would delete a.txt");
  expect(hint).toBe("allow it with --allow-delete --allow .travis.yml --allow AGENTS.md --allow .env");
});

test("at a terminal all of them are one question, and a no to it changes nothing", async () => {
  const lines = [planTo("WRITE .travis.yml", "WRITE AGENTS.md", "MODIFY .env")];
  const options = { interactive: true };
  const ran = await play({ files: { ".env": "LEVEL=1\n" }, lines, options, answers: ["yes", "no"] });
  expect([ran.outcome.status, ran.questions.length, ran.files]).toEqual(["declined", 2, { ".env": "LEVEL=1\n" }]);
  for (const path of [".travis.yml", "AGENTS.md", ".env"]) expect(ran.questions[1]?.text).toContain(`\n${path}: `);
});

const key = "AKIAQ3EGRTMZ7L2KXW5D";
const env = { ".env": `LEVEL=info\nAWS_KEY=${key}\n` };
const edit = "MODIFY::.env::EOT\n<<<<<<< SEARCH\nLEVEL=info\n=======\nLEVEL=debug\n>>>>>>> REPLACE\nEND::EOT\n";

test("a closed file that is named is changed, and its values stay hidden from the model", async () => {
  const lines = [planTo("MODIFY .env"), edit + finish()];
  const asked = { options: { interactive: true }, answers: ["yes" as const, "yes" as const] };
  for (const setup of [{ options: { allow: [".env"] } }, asked]) {
    const ran = await play({ files: env, lines, ...setup });
    expect([ran.outcome.code, ran.files]).toEqual([0, { ".env": `LEVEL=debug\nAWS_KEY=${key}\n` }]);
    const sent = JSON.stringify(ran.requests);
    expect([sent.includes("LEVEL=info"), sent.includes(key)]).toEqual([true, false]);
    expect(JSON.stringify(ran.events)).not.toContain(key);
  }
});

test("no pattern and no folder opens a closed file, and a yes holds for one run", async () => {
  const lines = [planTo("MODIFY .env")];
  for (const allow of [["**"], [".env*"], ["."]]) {
    const ran = await play({ files: env, lines, options: { allow } });
    expect([allow, ran.outcome.code, ran.files]).toEqual([allow, 12, env]);
  }
  const ran = await playFree(calling("write", { path: ".env", content: "LEVEL=1\n" }), ["no"], env);
  expect([ran.files, ran.questions.map(({ kind }) => kind)]).toEqual([env, ["scope"]]);
});
