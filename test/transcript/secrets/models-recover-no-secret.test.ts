/** The built binary and a model that wants the secrets of a project: it recovers none, and no file that pai keeps holds one. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../../needs.ts";
import { closesFiles } from "../../workspace/sandbox/here.ts";
import { openPlace } from "../harness.ts";
import { called, done, modify, planned, write } from "../replies.ts";
import { attack, attacks, files, password } from "../secret-attacks.ts";

const whereClosed = needs(closesFiles).test.concurrent;

for (const each of attacks) {
  test.concurrent(`nothing is learned or kept: ${each.name}`, async () => {
    const { byModel, byReader, byAnswers, tree } = await attack(each);
    expect([byModel, byReader]).toEqual([0, 0]);
    // One letter in 64 is right by chance.
    expect(byAnswers).toBeLessThan(4);
    const holders = Object.keys(tree).filter((path) => tree[path]?.includes(password));
    expect(holders).toEqual(["deploy.txt"]);
    expect(Object.values(tree).join("\n")).not.toMatch(/<<SECRET_(?!1>>)/);
  });
}

/** Calls whose answers tell something of a secret that stands in a link, and everything that the model was sent. */
async function sentAfter(...texts: readonly string[]): Promise<string> {
  const file = `https://x.org/?id=a1b2c3d4e5f6a7&api_key=${password}\n# notes\n`;
  const edit = (text: string) => called(["edit", { path: "link.txt", old_str: "# notes", new_str: `# notes ${text}` }]);
  const read = called(["read", { path: "link.txt" }]);
  await using place = openPlace([read, ...texts.map(edit), read, { text: "Done." }], { "link.txt": file });
  await place.pai(["run", "-y", "--mode", "tool-loop", "read it"]);
  expect(place.gemini.requests).toHaveLength(texts.length + 3);
  return place.gemini.requests.map(({ body }) => body).join("\n");
}

test.concurrent("whether an edit brings in a secret tells nothing of one that stands there", async () => {
  const sent = await sentAfter(...["A", "Z"].map((letter) => `token = "a1b2c3d4e5f6a7&api_key=${letter}"`));
  expect(sent.match(/seems to hold a secret/g)).toHaveLength(5);
});

test.concurrent("the reason why an edit is refused holds no character of a secret", async () => {
  const append = {
    reply: (body: string) => {
      const name = /<<SECRET_\w+>>/.exec(body)?.[0];
      return called(["edit", { path: "deploy.txt", old_str: `"${name}"`, new_str: `"${name}1"` }]);
    },
  };
  await using place = openPlace([called(["read", { path: "deploy.txt" }]), append, { text: "Done." }], files);
  await place.pai(["run", "-y", "--mode", "tool-loop", "go"]);
  const [last] = place.gemini.requests.slice(-1);
  expect(last?.body).toContain("seems to hold a secret");
  expect(last?.body).not.toContain(password.slice(0, 4));
});

test.concurrent("what the environment and .env tell of is hidden where nothing else tells that it is a secret", async () => {
  const [token, other] = ["Qw7eRt5yUi3oPa1sDf9g", "Mn6bVc4xZl2kJh8gFd0s"];
  const told = { ".env": `export API_TOKEN_2=${token}\n`, ".env.local": `SECRET_KEY='${other}' # new\n` };
  const text = `connect("app", "${password}", "${token}", "${other}")\nport = 1\n`;
  const edit = modify("a.txt", "port = 1\n", "port = 2\n");
  await using place = openPlace([planned(["MODIFY a.txt"]), done(edit)], { "a.txt": text, ...told });
  const check = 'cat a.txt; echo "as $DB_PASSWORD"; grep -q "port = 2" a.txt';
  const words = ["run", "-y", "--json", "--env", "DB_PASSWORD", "--check", check, "raise the port"];
  const { code, stdout, stderr } = await place.pai(words, { env: { DB_PASSWORD: password } });
  expect([code, place.read("a.txt")]).toEqual([0, text.replace("port = 1", "port = 2")]);
  const sent = place.gemini.requests.map(({ body }) => body).join("\n");
  expect(sent).toContain("as <<SECRET_");
  const later = [
    ["context", "@a.txt"],
    ["undo", "-n"],
    ["undo", "-y", "--json"],
    ["redo", "-n"],
  ] as const;
  let shown = stdout + stderr;
  for (const command of later) {
    const ran = await place.pai(command, { env: { DB_PASSWORD: password } });
    expect([...command, ran.code]).toEqual([...command, 0]);
    shown += ran.stdout + ran.stderr;
  }
  for (const value of [password, token, other]) expect(sent + shown).not.toContain(value);
});

test.concurrent("a key that pai holds is in nothing that is sent or shown, whichever provider it is for", async () => {
  const [used, other, dot] = ["q8Zr2Mw5Tv8Bx1Nc4Lk7Jh0", "w3Xt6Nc9Lk2Jh5Gf8Ds1Aa4", "Qw7eRt5yUi3oPa1sDf9g"];
  const text = `used ${used}\nother ${other}\ndot ${dot}\nport = 1\n`;
  const edit = modify("a.txt", "port = 1\n", "port = 2\n");
  const files = { "a.txt": text, ".env": `A_PASS=${dot}\n` };
  await using place = openPlace([planned(["MODIFY a.txt"]), done(edit)], files);
  const env = { GEMINI_API_KEY: null };
  await place.pai(["key", "set"], { env, stdin: `${used}\n` });
  await place.pai(["key", "set", "--provider", "mistral"], { env, stdin: `${other}\n` });
  let shown = "";
  for (const command of [
    ["context", "@a.txt"],
    ["run", "-y", "--json", "raise the port in @a.txt"],
    ["undo", "-n"],
    ["undo", "-n", "--json"],
    ["dashboard", "--out", "../report.html"],
    ["undo", "-y", "--json"],
    ["redo", "-n"],
  ]) {
    const ran = await place.pai(command, { env });
    expect([...command, ran.code]).toEqual([...command, 0]);
    shown += ran.stdout + ran.stderr;
  }
  expect(place.gemini.requests[0]?.key).toBe(used);
  const page = place.read("../report.html");
  expect(page).toContain("port = 2");
  const all = [shown, page, ...place.gemini.requests.map(({ body }) => body)].join("\n");
  for (const value of [used, other, dot]) expect(all).not.toContain(value);
});

test.concurrent("a variable that commands get is hidden in their output, and each line of a private key", async () => {
  const value = `Zx9k"Q2mR7 tLp4VwA8sNd`;
  const lines = [1, 2, 3].map((n) => `${password}${password}${password}${n}`);
  const key = ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join("\n");
  await using place = openPlace([planned(["WRITE a.txt"]), done(write("a.txt", "x\n")), done("", "I give up.")]);
  const check = 'echo "$MOTTO"; echo "$DEPLOY" | sed -n 2,3p; test -e never';
  const words = ["run", "-y", "--json", "--env", "MOTTO", "--env", "DEPLOY", "--check", check, "write a.txt"];
  const { stdout, stderr } = await place.pai(words, { env: { MOTTO: value, DEPLOY: key } });
  const sent = place.gemini.requests.map(({ body }) => body).join("\n");
  expect(sent.match(/<<SECRET_\w+>>/g)?.length).toBeGreaterThanOrEqual(3);
  for (const each of [JSON.stringify(value).slice(1, -1), ...lines]) expect(sent + stdout + stderr).not.toContain(each);
});

// F11: the first secret of a run was called <<SECRET_1>>, so that a README could ask for it.
test.concurrent("text of a file that was written before the run stands for no secret of the task", async () => {
  const text = "see <<SECRET_1>> and <<SECRET_0000_1>>\n";
  const answers = [
    called(["read", { path: "README.md" }]),
    called(["write", { path: "README.md", content: `${text}more\n` }]),
  ];
  await using place = openPlace([...answers, { text: "Done." }], { "README.md": text });
  const { code } = await place.pai(["run", "-y", "--mode", "tool-loop", `add a line; db_password = "${password}"`]);
  expect([code, place.read("README.md")]).toEqual([0, `${text}more\n`]);
  expect(place.gemini.requests.map(({ body }) => body.includes(password))).toEqual([false, false, false]);
});

whereClosed("a closed file that a person makes between two commands is closed to the second", async () => {
  const run = (command: string) => called(["bash", { command }]);
  const make = () => writeFileSync(join(place.root, "src/.env"), "WORD=plainword\n");
  const second = { ...run("cat src/.env; true"), meanwhile: make };
  await using place = openPlace([run("true"), second, { text: "Done." }], { "src/a": "a\n" });
  const { code } = await place.pai(["run", "-y", "--allow-run", "--mode", "tool-loop", "look"]);
  expect(code).toBe(0);
  expect(place.gemini.requests.map(({ body }) => body.includes("plainword"))).toEqual([false, false, false]);
});
