/** `--also`: folders beside the project are changed by absolute paths, in the same run and the same undo. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, removeFolder } from "../../grounds.ts";
import { needs, rootUser } from "../../needs.ts";
import { openBare } from "../../workspace/bare.ts";
import { copies } from "../../workspace/sandbox/here.ts";
import { readOutcome } from "../contract.ts";
import { type Answer, openPlace, type Place } from "../harness.ts";
import { done, modify, planned, write } from "../replies.ts";

/** The project and two folders beside it: sites and certificates. */
function openOthers({ spare }: Place) {
  const [sites, certs] = [join(spare, "sites"), join(spare, "certs")];
  for (const folder of [sites, certs]) mkdirSync(folder);
  writeFileSync(join(sites, "shop"), "listen 80\n");
  writeFileSync(join(certs, "shop.conf"), "days 30\n");
  return { sites, certs, shop: join(sites, "shop"), fresh: join(certs, "new", "blog.conf") };
}

const asked = "listen on 443";

test.concurrent("one run changes three roots, its diff names the others absolutely, one undo takes all back", async () => {
  const answers: Answer[] = [];
  await using place = openPlace(answers, { "app.conf": "port 80\n" });
  const { sites, certs, shop, fresh } = openOthers(place);
  answers.push(
    planned(["MODIFY app.conf", `MODIFY ${shop}`, `WRITE ${fresh}`, `LINK ${join(sites, "again")} -> ${shop}`]),
    done(
      `${modify("app.conf", "port 80\n", "port 443\n")}${modify(shop, "listen 80\n", "listen 443\n")}` +
        `${write(fresh, "x\n")}LINK::${sites}/again::shop\n`,
    ),
  );
  const flags = ["--also", sites, "--also", certs, "--check", `grep -q 443 ${shop}`, "--check-sandbox", "off"];
  const ran = readOutcome(await place.pai(["run", "-y", "--json", ...flags, asked]));
  expect([ran.code, ran.status, ran.calls.made]).toEqual([0, "verified", 2]);
  expect(ran.diff).toContain(`--- a/${shop}\n`);
  const texts = () => [place.read("app.conf"), readFileSync(shop, "utf8")];
  expect([...texts(), readFileSync(fresh, "utf8")]).toEqual(["port 443\n", "listen 443\n", "x\n"]);
  expect(readlinkSync(join(sites, "again"))).toBe("shop");
  expect((await place.pai(["undo", "-y"])).code).toBe(0);
  expect([...texts(), existsSync(join(certs, "new"))]).toEqual(["port 80\n", "listen 80\n", false]);
  expect((await place.pai(["redo", "-y"])).code).toBe(0);
  expect(readFileSync(shop, "utf8")).toBe("listen 443\n");
});

test.concurrent("a root that is not named stays closed, and in one that is the same names are closed", async () => {
  const answers: Answer[] = [];
  await using place = openPlace(answers, { "app.conf": "port 80\n" });
  const { sites, certs, shop } = openOthers(place);
  const refuse = async (path: string) => {
    answers.push(planned([`WRITE ${path}`]));
    const { code, error } = readOutcome(await place.pai(["run", "-y", "--json", "--also", sites, asked]));
    return [code, `${error?.message}; ${error?.hint}`];
  };
  expect(await refuse(join(certs, "shop.conf"))).toEqual([12, expect.stringContaining("is absolute")]);
  expect(await refuse(`${sites}/../certs/shop.conf`)).toEqual([12, expect.stringContaining('leads upwards with ".."')]);
  expect(await refuse(join(sites, ".git/hooks/pre-commit"))).toEqual([12, expect.stringContaining("version control")]);
  expect(await refuse(join(sites, "crontab"))).toEqual([12, expect.stringContaining(`--allow ${sites}/crontab`)]);
  expect(readFileSync(shop, "utf8")).toBe("listen 80\n");

  answers.push(planned([`WRITE ${join(sites, "crontab")}`]), done(write(join(sites, "crontab"), "# none\n")));
  const flags = ["--also", sites, "--allow", join(sites, "crontab")];
  expect((await place.pai(["run", "-y", ...flags, asked])).code).toBe(0);
  expect(readFileSync(join(sites, "crontab"), "utf8")).toBe("# none\n");

  for (const [folder, why] of [
    [place.spare.replace(/[^/]+$/, ""), "a folder beside the project"],
    ["/etc", "is a folder of the system"],
    [join(certs, "shop.conf"), "a folder beside the project"],
  ] as const) {
    const { code, stderr } = await place.pai(["run", "-y", "--also", folder, asked]);
    expect([code === 2 || code === 12, stderr]).toEqual([true, expect.stringContaining(why)]);
  }
});

test.concurrent("a run that is killed is taken back in every root by the next one; a root that is gone is named", async () => {
  const answers: Answer[] = [];
  await using place = openPlace(answers, { "app.conf": "port 80\n" });
  const { sites, shop } = openOthers(place);
  answers.push(planned([`MODIFY ${shop}`]), done(modify(shop, "listen 80\n", "listen 443\n")));
  // Kills the nearest pai above, and nothing else.
  const above =
    "p=$PPID; until [ \"$(cat /proc/$p/comm)\" = pai ]; do [ $p -gt 1 ] || exit 1; p=$(awk '{print $4}' /proc/$p/stat); done";
  const check = `if grep -q 443 ${shop}; then ${above}; kill -9 $p; sleep 5; fi`;
  const flags = ["--also", sites, "--no-baseline", "--check", check, "--check-sandbox", "off"];
  const killed = await place.pai(["run", "-y", ...flags, asked]);
  expect([killed.code > 100, readFileSync(shop, "utf8")]).toEqual([true, "listen 443\n"]);
  renameSync(sites, `${sites}-moved`);
  const without = await place.pai(["undo", "-y"]);
  expect(without.stderr).toContain("was cut off and is not taken back");
  renameSync(`${sites}-moved`, sites);
  await place.pai(["undo", "-y"]);
  expect(readFileSync(shop, "utf8")).toBe("listen 80\n");
});

needs(copies, rootUser).test.each(["elsewhere", "in a home", "in shared memory"])(
  "commands of the model see another root %s, but not what its names close, and cannot write there",
  async (where) => {
    const [folder, memory] = [newFolder("checkout", "roots"), newFolder("memory", "roots")];
    const other = where === "in shared memory" ? join(memory, "other") : join(folder, "person", "other");
    const root = join(folder, "work");
    for (const each of [root, other]) mkdirSync(each, { recursive: true });
    for (const name of [".env", "open.conf"]) writeFileSync(join(other, name), `innermost of ${name}\n`);
    const { workspace, close } = await openBare(root, join(folder, "state"), {
      also: [other],
      home: where === "in a home" ? join(folder, "person") : null,
      env: { PATH: "/usr/bin:/bin" },
    });
    const transaction = await workspace.begin({ id: "r1", task: "t" });
    const { signal } = new AbortController();
    const command = `cat ${other}/open.conf ${other}/.env; echo x > ${other}/new`;
    const { output } = await transaction.run(command, { by: "plan", timeoutMs: 20_000, signal });
    expect([output.includes("innermost of open.conf"), output.includes("innermost of .env")]).toEqual([true, false]);
    expect(existsSync(join(other, "new"))).toBe(false);
    await close();
    for (const each of [folder, memory]) removeFolder(each);
  },
);
