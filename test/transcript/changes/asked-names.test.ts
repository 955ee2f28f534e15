/** The built binary and files that steer: -y alone changes none that runs without being asked or steers agents. */
import { expect, test } from "bun:test";
import { openPlace } from "../harness.ts";
import { done, planned } from "../replies.ts";

test.concurrent("what one command of a plan builds in an ignored place is its own to the next", async () => {
  const [build, use] = ["echo echo built > out.sh", "sh out.sh > said.txt"];
  await using place = openPlace([planned([`RUN ${build}`, `RUN ${use}`]), done("")], { ".gitignore": "out.sh\n" });
  const ran = await place.pai(["run", "-y", "--allow-run", "build it"]);
  expect([ran.code, place.read("said.txt")]).toEqual([0, "built\n"]);
});

// F20
test.concurrent("a check sees neither the user's database nor the password of the proxy, unless a flag gives them", async () => {
  const env = { DATABASE_URL: "postgres://me:hunter2hunter2@db/x", HTTP_PROXY: "http://me:hunter2hunter2@proxy:1" };
  const check = 'env >> env.txt; test -n "$DATABASE_URL" || { echo KeyError: DATABASE_URL; false; }';
  await using place = openPlace([planned(["WRITE a.txt"]), done("WRITE::a.txt::EOT\na\nEND::EOT\n")]);
  const result = await place.pai(["run", "-y", "--keep", "--check", check, "x"], {
    env,
  });
  expect(place.read("env.txt")).not.toContain("hunter2");
  expect(result.stderr).toContain("to give it to them: --env DATABASE_URL");
  await using other = openPlace([planned(["WRITE a.txt"]), done("WRITE::a.txt::EOT\na\nEND::EOT\n")]);
  const given = await other.pai(["run", "-y", "--env", "DATABASE_URL", "--check", "env >> env.txt", "x"], { env });
  expect([given.code, other.read("env.txt")?.includes(env.DATABASE_URL)]).toEqual([0, true]);
});

/** By what is done in the project first: a file whose own name tells nothing, and what it is. */
const otherNames: readonly (readonly [setup: string, path: string, why: RegExp])[] = [
  ["ln -s docs/guide.md AGENTS.md", "docs/guide.md", /a link makes it AGENTS\.md, and AGENTS\.md may run code/],
  ["mkdir conf; ln -s conf .cargo", "conf/config.toml", /a link makes it \.cargo\/config\.toml/],
  ["ln -s dev.txt .env", "dev.txt", /a link makes it \.env, and \.env may hold keys/],
];

test.concurrent("a file is asked about by what a link makes of it", async () => {
  for (const [setup, path, why] of otherNames) {
    await using place = openPlace([planned([`WRITE ${path}`])], { "a.txt": "a\n" });
    const folder = path.split("/").slice(0, -1).join("/");
    await place.shell(`${folder === "" ? "" : `mkdir -p ${folder};`} touch ${path}; ${setup}`);
    const before = place.tree();
    const { code, stderr } = await place.pai(["run", "-y", "change it"]);
    expect([path, code]).toEqual([path, 12]);
    expect(stderr).toMatch(why);
    expect(place.tree()).toEqual(before);
  }
});

test.concurrent("a command cannot link a folder of many names to what it writes next", async () => {
  const link = "mkdir conf; ln -s conf .cargo";
  await using place = openPlace([planned([`RUN ${link}`]), done(`RUN::${link}\n`), done(""), done("")]);
  await place.pai(["run", "-y", "--allow-run", "build it"]);
  expect(place.tree()).toEqual({});
  expect((await place.shell("test -L .cargo")).code).toBe(1);
});

test.concurrent("what --allow cannot mean ends with 2 before any call, and is said", async () => {
  await using place = openPlace([], { "a.txt": "a\n", ".ssh/config": "x\n" });
  const cases = [
    [".git/config", "belongs to version control"],
    [".pai_history/log", "belongs to pai itself"],
    [".ssh", "name each file in it by its whole path"],
    ["docs/**", "matches nothing here"],
    ["../x", "is no path of the project"],
    ["/etc/cron.d/x", "is not in"],
  ] as const;
  for (const [path, why] of cases) {
    const { code, stderr } = await place.pai(["run", "-y", "--allow", path, "x"]);
    expect([path, code, place.gemini.requests.length]).toEqual([path, 2, 0]);
    expect(stderr).toContain(why);
  }
});
