/** Secrets in files and command output never reach the model and come back into the files as they were. */
import { expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineQuery } from "../../../src/actions/command.ts";
import { allActions } from "../../../src/actions/registry.ts";
import { eightStep } from "../../../src/flows/eight-step.ts";
import { call, calling, calls, playLoop, playLoopIn, resultsOf } from "../loop.ts";
import { finish, modify, plan as planOf, schedule, talk as talkOf, verdict, write } from "../plans.ts";
import { makeFolder, past, play, playIn } from "../scripted.ts";

const key = "AIzaSyA1234567890abcdefghijklmnopqrstu";
const plan = planOf({ steps: ["MODIFY settings.py"] });
const named = 'KEY = "<<SECRET_k3f9_1>>"\n';
const script = modify("settings.py", [`${named}TIMEOUT = 1\n`, `${named}TIMEOUT = 2\n`]) + finish("done");

test("a short file whose secret is shorter than its name is whole: told once, and no part of it is offered", async () => {
  const files = { "app.yaml": "password: hunter2hunter\nmax: 1\n" };
  const lines = [planOf({ steps: ["MODIFY app.yaml"] }), modify("app.yaml", ["max: 1\n", "max: 2\n"]) + finish()];
  const ran = await play({ files, lines, task: "raise max in app.yaml" });
  expect(ran.told(2).match(/password: <<SECRET_k3f9_1>>/g)).toHaveLength(1);
  expect(ran.told(2)).not.toContain("parts of");
  expect(ran.files).toEqual({ "app.yaml": "password: hunter2hunter\nmax: 2\n" });
});

test("a file with a key is edited without the key ever being sent", async () => {
  const files = { "settings.py": `KEY = "${key}"\nTIMEOUT = 1\n` };
  const ran = await play({ files, lines: [plan, script], task: "raise TIMEOUT in settings.py" });
  expect(JSON.stringify(ran.requests)).not.toContain(key);
  expect(ran.told(2)).toContain('KEY = "<<SECRET_k3f9_1>>"');
  expect(ran.files).toEqual({ "settings.py": `KEY = "${key}"\nTIMEOUT = 2\n` });
  expect(ran.notices("masked")).toEqual(["1 value that looks like a secret: sent as a name, kept in your files"]);
});

test("what a command prints is masked too, and a call that names the secret gets it back", async () => {
  const edit = { path: "settings.py", old_str: 'KEY = "<<SECRET_k3f9_1>>"', new_str: 'KEY = "none"' };
  const lines = [calling("bash", { command: "cat settings.py" }), calling("edit", edit), "Done."];
  const ran = await playLoop(lines, { files: { "settings.py": `KEY = "${key}"\n` }, options: { allowRun: true } });
  expect(JSON.stringify(ran.requests)).not.toContain(key);
  expect(ran.files).toEqual({ "settings.py": 'KEY = "none"\n' });
});

const password = "Zx9kQ2mR7tLp4VwA8sNd";
const told = `db_password = "${password}"\nport = 1\n`;
const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`src/f${at}.ts`, `export const a = ${at};\n`]));

for (const command of [
  `cut -d'"' -f2 ops/d.txt`,
  `cut -d'"' -f2 ops/*.txt`,
  `cut -d'"' -f2 ./ops/d*`,
  `cut -d'"' -f2 o?s/[a-e].txt`,
  `cd ops && cut -d'"' -f2 d.txt`,
  `cut -d'"' -f2 < "ops/d.txt"`,
  `cut -d'"' -f2 link.txt`,
  `echo 'cut -c16-35 ops/d.txt' | sh`,
]) {
  for (const [where, more] of Object.entries({ "a project": many, "an ignored folder": { ".gitignore": "ops/\n" } })) {
    test(`a password that ${command} prints without its name is hidden, in ${where}`, async () => {
      const place = makeFolder({ ...more, "ops/d.txt": told });
      symlinkSync("ops/d.txt", join(place.root, "link.txt"));
      const lines = [calling("bash", { command }), "Done."];
      const ran = await playLoopIn(place, lines, { options: { allowRun: true } });
      expect(ran.requests.length).toBe(2);
      expect(JSON.stringify(ran.requests.at(-1))).toContain("<<SECRET_");
      expect(JSON.stringify(ran.requests)).not.toContain(password);
    });
  }
}

test("so is one in the answer of a tool of a server, whose call names the file", async () => {
  const query = async () => ({ ok: true, text: `2 lines\n${password}\n` });
  for (const input of [{ path: "ops/d.txt" }, { paths: ["./ops/d.txt"], more: { deep: true } }]) {
    const ran = await playLoop([calling("query_tool", { tool: "t.read", input }), "Done."], {
      files: { ...many, "ops/d.txt": told },
      actions: allActions.map((each) => (each.name === "QUERY" ? { ...defineQuery(query), offered: true } : each)),
    });
    expect(JSON.stringify(ran.requests)).toContain("2 lines\\n<<SECRET_");
    expect(JSON.stringify(ran.requests)).not.toContain(password);
  }
});

test("of the files that a command names, twenty are read before it, and a megabyte of them", async () => {
  const names = Array.from({ length: 30 }, (_, at) => `n${at}.txt`);
  const files = {
    ...Object.fromEntries(names.map((name) => [name, "x\n"])),
    "big.txt": "x".repeat(2 ** 20 + 1),
    "d.txt": told,
  };
  const hides = async (command: string) => {
    const lines = [calling("bash", { command }), "Done."];
    const ran = await playLoop(lines, { files: { ...files, ...many }, options: { allowRun: true } });
    return !JSON.stringify(ran.requests).includes(password);
  };
  expect(await hides(`cat ${names.slice(0, 19).join(" ")}; cut -d'"' -f2 d.txt`)).toBe(true);
  expect(await hides(`cat ${names.slice(0, 20).join(" ")}; cut -d'"' -f2 d.txt`)).toBe(false);
  expect(await hides(`wc big.txt; cut -d'"' -f2 d.txt`)).toBe(true);
});

/** A reply that writes one file. */
const writes = (path: string, text: string) => write(path, text) + finish("done");

test("another file gets the value only where --allow names it, and a moved file keeps the right to its own", async () => {
  const copy = "note <<SECRET_k3f9_1>>\n";
  const files = { "d.txt": told };
  const read = call("read", { path: "d.txt" });
  const loop = [calls(read), calling("write", { path: "n.md", content: copy }), "Done."];
  const allowed = await playLoop(loop, { files, options: { allow: ["n.md"] } });
  expect([allowed.outcome.code, allowed.files["n.md"]]).toEqual([0, `note ${password}\n`]);
  const planned = planOf({ steps: ["READ d.txt", "WRITE n.md"] });
  const { outcome, files: left } = await play({ files, lines: [planned, writes("n.md", copy), writes("n.md", copy)] });
  expect([outcome.code, outcome.error?.code, left]).toEqual([12, "secret_refused", files]);
  const edit = { path: "conf.txt", old_str: '"<<SECRET_k3f9_1>>"', new_str: "'x'" };
  const moves = [calls(read, call("mv", { from: "d.txt", to: "conf.txt" })), calling("edit", edit), "Done."];
  expect((await playLoop(moves, { files })).files).toEqual({ "conf.txt": "db_password = 'x'\nport = 1\n" });
});

test("neither what a search finds nor the files it includes tell how a secret begins", async () => {
  const secret = "Zx9kQ2mR7tLp4VwA8sNdZx9kQ2mR7tLp4VwA8sNd";
  const ask = async (first: string) => {
    const inside = call("grep", { pattern: `^db_password = "${first}\\w+` });
    const named = call("grep", { pattern: "old", include: `backup-${first}*` });
    const files = { "deploy.txt": `db_password = "${secret}"\n`, [`backup-${secret}.txt`]: "old\n" };
    return resultsOf(await playLoop([calls(inside, named), "Done."], { files }), 2).map(({ text }) => text);
  };
  const found = await ask("Z");
  expect(found).toEqual([expect.stringMatching(/^no match/), expect.stringMatching(/^no match/)]);
  expect(found).toEqual((await ask("Y")).map((text) => text.replace('"Y', '"Z')));
});

const talk = talkOf("Settings.");

test("a text is cut after its secrets are hidden, also one that only a later file tells is a secret", async () => {
  const before = "Some rule of this project.\n".repeat(400).slice(0, 7_990);
  const files = { "AGENTS.md": `${before}${password}\n${before}`, "deploy.py": `db_password = "${password}"\n` };
  const ran = await play({ files, lines: [talk], task: "what is in deploy.py?" });
  expect(ran.asked(1)).toContain("<<SECRET_k3f9_1>>");
  expect(JSON.stringify(ran.requests)).not.toContain(password.slice(0, 8));
  const history = [past(`${before.slice(0, 390)}${password}`, "Done.")];
  const again = await play({ files: { "deploy.py": files["deploy.py"] }, lines: [talk], task: "and now?", history });
  expect(again.asked(1)).toContain("<<SECRET_k3f9_1>>");
  expect(JSON.stringify(again.requests)).not.toContain(password.slice(0, 8));
});

test("no secret is cut in half in the diff that eight-step judges", async () => {
  const row = `${Array(40).fill(password).join(" ")}\n`;
  const text = `x ${row.replaceAll(password, "<<SECRET_k3f9_1>>")}`.repeat(80);
  const act = `WRITE::a.txt::EOT\n${text}\nEND::EOT\nFINISH::EOT\nDone.\nEND::EOT\n`;
  const ran = await play({
    flow: eightStep,
    options: { mode: "eight-step" },
    files: { "a.txt": `password = "${password}"\n${row.repeat(80)}` },
    lines: [schedule({ modify: ["a.txt"] }), act, verdict(), "Made it."],
  });
  expect(ran.asked(3)).toContain("<<SECRET_k3f9_1>> <<SECRET_k3f9_1>>");
  expect(JSON.stringify(ran.requests)).not.toMatch(/Zx9k/);
});

const look = JSON.stringify({ ...JSON.parse(planOf({ steps: ["READ deploy.txt"] })), intent: "look" });

test("a file that only begins as UTF-16 does is read, searched and shown by the names of its secrets", async () => {
  for (const mark of ["\u00fe\u00ff", "\u00ff\u00fe"]) {
    for (const filler of ["", "x"]) {
      const place = makeFolder();
      const text = `${mark}db_password = "${password}"\n${"port = 1\n".repeat(5000)}${filler}`;
      writeFileSync(join(place.root, "deploy.txt"), Buffer.from(text, "latin1"));
      const looks = calls(
        call("read", { path: "deploy.txt" }),
        call("read", { path: "deploy.txt", start_line: 1, end_line: 1 }),
        call("grep", { pattern: "db_password" }),
      );
      const ran = await playLoopIn(place, [looks, "Done."]);
      const planned = await playIn(place, { lines: [look, talk] });
      const worked = await playIn(place, {
        lines: [plan.replace("settings.py", "deploy.txt"), "FINISH::done\n", "FINISH::done\n"],
      });
      for (const { requests, events } of [ran, planned, worked]) {
        expect(JSON.stringify(requests)).toContain("<<SECRET_k3f9_1>>");
        expect(JSON.stringify([requests, events])).not.toContain(password.slice(0, 8));
      }
    }
  }
});

const wide = (text: string) => `\ufeff${text}`;

test("a file of UTF-16 is searched and edited by the names of its secrets, too", async () => {
  const text = `db_password = "${password}"\r\nport = 1\r\n`;
  for (const isBig of [false, true]) {
    const bytesOf = (content: string) => {
      const little = Buffer.from(wide(content), "utf16le");
      return isBig ? little.swap16() : little;
    };
    const place = makeFolder();
    writeFileSync(join(place.root, "deploy.txt"), bytesOf(text));
    const looks = ['db_password = "Z', 'db_password = "Y', password.slice(0, 6), "[A-Za-z0-9]{20}"];
    const edit = { path: "deploy.txt", old_str: "port = 1", new_str: "port = 2" };
    const guess = { path: "deploy.txt", old_str: '= "Zx9', new_str: '= "Zx9' };
    const named = { path: "deploy.txt", old_str: '"<<SECRET_k3f9_1>>"', new_str: "'<<SECRET_k3f9_1>>'" };
    const ran = await playLoopIn(place, [
      calls(...looks.map((pattern) => call("grep", { pattern }))),
      calls(...[guess, edit, named].map((input) => call("edit", input))),
      "Done.",
    ]);
    const results = ran.requests.at(-1)?.messages.flatMap((each) => (each.role === "tools" ? each.results : []));
    expect(results?.slice(0, 4).map((result) => /^no match/.test(result.text))).toEqual([true, true, true, true]);
    expect(results?.slice(4).map(({ ok }) => ok)).toEqual([false, true, true]);
    expect(JSON.stringify([ran.requests, ran.events])).not.toContain(password);
    const after = text.replace("port = 1", "port = 2").replace(`"${password}"`, `'${password}'`);
    expect(readFileSync(join(place.root, "deploy.txt")).equals(bytesOf(after))).toBe(true);
  }
});

test("a value that the user typed in the task may be written to the files of the plan, that of an earlier task may not", async () => {
  const task = `deploy with password=${password} and psk=geheim`;
  const text = 'password = "<<SECRET_k3f9_1>>"\npsk = "<<SECRET_k3f9_2>>"\n';
  const planned = planOf({ steps: ["WRITE deploy.ini"] });
  const ran = await play({ task, lines: [planned, writes("deploy.ini", text)] });
  expect(ran.files).toEqual({ "deploy.ini": `password = "${password}"\npsk = "geheim"\n` });
  expect(JSON.stringify([ran.requests, ran.events])).not.toMatch(/Zx9k|geheim/);
  const history = [past(task, "Done.")];
  const lines = [planned, writes("deploy.ini", text), writes("deploy.ini", text)];
  const later = await play({ task: "and write it", history, lines });
  expect([later.outcome.code, later.files]).toEqual([12, {}]);
});

const words = { feedback: `with password=${password}` };
const asked = [
  ["a plan", [writes("a.ini", "x\n"), writes("a.ini", 'password = "<<SECRET_k3f9_1>>"\n')], [words, "yes"]],
  ["a diff", [writes("a.ini", "x\n"), writes("a.ini", 'password = "<<SECRET_k3f9_1>>"\n')], ["yes", words, "yes"]],
] as const;
test.each(asked)("a value that the user typed at %s is hidden, and may be written, too", async (at, lines, answers) => {
  const planned = planOf({ steps: ["WRITE a.ini"] });
  const setup = { task: "deploy", answers, lines: at === "a plan" ? lines : [planned, ...lines] };
  const ran = await play({ ...setup, options: { interactive: true, atOnce: "auto", review: "batch" } });
  expect(ran.files).toEqual({ "a.ini": `password = "${password}"\n` });
  expect(JSON.stringify([ran.requests, ran.events])).not.toContain("Zx9k");
  expect(ran.questions).toHaveLength(answers.length);
});

test("a value that the user typed may be written to the files of the plan, whatever characters it has", async () => {
  const before = "host: db\npassword: oldpassword99\n";
  const planned = planOf({ steps: ["MODIFY c.yml"], read: ["c.yml"] });
  const modifies = (line: string) => modify("c.yml", ["password: <<SECRET_k3f9_1>>\n", `${line}\n`]) + finish("done");
  const set = async (task: string, line: string) => {
    for (const work of [modifies(line), writes("c.yml", `host: db\n${line}\n`)]) {
      const ran = await play({ task, files: { "c.yml": before }, lines: [planned, work, work] });
      expect([task, ran.outcome.code, ran.files["c.yml"]]).toEqual([task, 0, `host: db\n${line}\n`]);
    }
  };
  const plain = ["N3wSecretPass!42", "N3w$ecretPa$$42", "#N3wSecret#Pass42", "N3wSecret&(Pass)=42%"];
  for (const value of [...plain, "N3w Secret Pass!42"]) {
    for (const quoted of [value, `'${value}'`, `"${value}"`]) {
      await set(`set the password in c.yml to ${quoted}`, `password: "${value}"`);
      await set(`set the password in c.yml to ${quoted}.`, `password: ${value}`);
    }
  }
  await set('set the password in c.yml to N3wSecret"Pass\\!42', `password: ${JSON.stringify('N3wSecret"Pass\\!42')}`);
  await set("set the password in c.yml to N3wSecret'Pass!42", "password: 'N3wSecret''Pass!42'");
  await set("use p@ss/N3wSecret!9 for the database", "url: postgres://joe:p%40ss%2FN3wSecret%219@db/x");
});

test("a value that the model writes by itself is a name in the diff of the plan, which is asked about once", async () => {
  const ran = await play({
    lines: ["FILES: a.ini\nWRITE::a.ini::EOT\npassword: Yx7kQ2vBm9qqq\nEND::EOT\nFINISH::done\n"],
    task: "make a.ini with password: Yx7kQ2vBm9qqq and nothing else",
    options: { interactive: true, atOnce: "always" },
    answers: ["yes"],
  });
  expect(ran.questions.map(({ diff }) => diff?.split("\n").at(-2))).toEqual(["+password: <<SECRET_k3f9_1>>"]);
  expect(ran.files).toEqual({ "a.ini": "password: Yx7kQ2vBm9qqq\n" });
});

test("a part of a typed value is no typed value", async () => {
  const work = writes("c.yml", 'password: "N3wSecretPass!4"\n');
  const task = "set the password in c.yml to N3wSecretPass!42";
  const ran = await play({ task, lines: [planOf({ steps: ["WRITE c.yml"] }), work, work] });
  expect([ran.outcome.code, ran.files]).toEqual([12, {}]);
});

test("an .env that --allow opens is shown and changed with all its values as names", async () => {
  const files = { ".env": `DB_PASSWORD=${password}\nSMTP_PASS=geheim\nLOG_LEVEL=info\n` };
  const edit = modify(".env", ["LOG_LEVEL=info\n", "LOG_LEVEL=debug\n"]);
  const lines = [planOf({ steps: ["MODIFY .env"] }), `${edit}FINISH::done\n`];
  const ran = await play({ task: "set LOG_LEVEL to debug in .env", files, lines, options: { allow: [".env"] } });
  expect([ran.outcome.code, ran.files]).toEqual([0, { ".env": files[".env"].replace("info", "debug") }]);
  expect(ran.told(2)).toContain("DB_PASSWORD=<<SECRET_k3f9_1>>\nSMTP_PASS=<<SECRET_k3f9_2>>\nLOG_LEVEL=info");
  expect(JSON.stringify([ran.requests, ran.events])).not.toMatch(/Zx9k|geheim/);
});
