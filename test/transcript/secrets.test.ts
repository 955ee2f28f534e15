/** The built binary and a model that wants the secrets of a project: it recovers none, and no file that pai keeps holds one. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readOutcome } from "./contract.ts";
import { openPlace, patience } from "./harness.ts";
import { called, done, planned, write } from "./replies.ts";
import { attack, attacks, files, password } from "./secret-attacks.ts";

setDefaultTimeout(patience);

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

const copied = [
  called(["read", { path: "deploy.txt" }]),
  {
    reply: (body: string) =>
      called(["write", { path: "n2.md", content: `note ${/<<SECRET_\w+>>/.exec(body)?.[0]}\n` }]),
  },
  { text: "Done." },
];

test.concurrent("--allow-secret lets the named file have the value", async () => {
  await using place = openPlace(copied, files);
  const flags = ["--mode", "tool-loop", "--allow-secret", "n2.md"];
  expect(readOutcome(await place.pai(["run", "-y", "--json", ...flags, "copy it"])).code).toBe(0);
  expect(place.read("n2.md")).toBe(`note ${password}\n`);
});

test.concurrent("a planned file that would get the value ends the run with 12", async () => {
  const copy = { reply: (body: string) => done(write("n2.md", `note ${/<<SECRET_\w+>>/.exec(body)?.[0]}\n`)) };
  await using place = openPlace(
    [
      planned([
        ["READ", "deploy.txt"],
        ["WRITE", "n2.md"],
      ]),
      copy,
      copy,
      copy,
    ],
    files,
  );
  const outcome = readOutcome(await place.pai(["run", "-y", "--json", "copy it"]));
  expect([outcome.code, place.read("n2.md")]).toEqual([12, null]);
  expect(outcome.error?.code).toBe("secret_refused");
});

test.concurrent("a file that moves takes the right to its secret along", async () => {
  const moved = [
    called(["read", { path: "deploy.txt" }], ["mv", { from: "deploy.txt", to: "conf.txt" }]),
    {
      reply: (body: string) =>
        called(
          ["edit", { path: "conf.txt", old_str: `"${/<<SECRET_\w+>>/.exec(body)?.[0]}"`, new_str: "'x'" }],
          ["read", { path: "conf.txt" }],
        ),
    },
    { text: "Done." },
  ];
  await using place = openPlace(moved, files);
  await place.pai(["run", "-y", "--mode", "tool-loop", "move it"]);
  expect(place.read("conf.txt")).toBe("db_password = 'x'\nport = 1\n");
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
