/** The recipes of docs/server.md for many hosts, sockets, logs and cron, typed as they stand there. */
import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs, rootUser } from "../needs.ts";
import { readOutcome } from "../transcript/contract.ts";
import { type Answer, findBinary, openPlace, type Place } from "../transcript/harness.ts";
import { done, modify, planned, talked, write } from "../transcript/replies.ts";

const before = "listen 80\nworkers 1\n";
const after = "listen 80\nworkers 4\n";
const check = "grep -qw 4 app.conf";
const made = [planned(["MODIFY app.conf"]), done(modify("app.conf", "workers 1\n", "workers 4\n"))];
const hosts = ["web1", "web2", "web3"];

/** Three more roots, of which the last differs; and the change, made and proved in the project. */
async function makeChange(place: Place): Promise<string> {
  const file = join(place.spare, "change.json");
  for (const host of hosts) {
    mkdirSync(join(place.spare, host));
    writeFileSync(join(place.spare, host, "app.conf"), host === "web3" ? "listen 81\nworkers 2\n" : before);
  }
  const { code, stderr } = await place.pai(["run", "-y", "--check", check, "--save-change", file, "four workers"]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return file;
}

const contentOf = ({ spare }: Place) => hosts.map((host) => readFileSync(join(spare, host, "app.conf"), "utf8"));

needs("ansible-playbook").test("Ansible: a playbook takes a change to three roots, and fails for one", async () => {
  await using place = openPlace(made, { "app.conf": before });
  const file = await makeChange(place);
  const at = (name: string) => join(place.spare, name);
  writeFileSync(at("hosts"), hosts.map((host) => `${host} ansible_connection=local root=${at(host)}\n`).join(""));
  const page = readFileSync(join(import.meta.dir, "../../docs/server.md"), "utf8");
  const playbook = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? "";
  const here = playbook
    .replaceAll("/root/change.json", `{{ root }}.json`)
    .replace("/etc/nginx", "{{ root }}")
    .replace("--force-root --check 'nginx -t'", `--check '${check}'`)
    .replace("pai apply", `${findBinary()} apply`);
  writeFileSync(at("site.yml"), here);
  const env = { HOME: place.home, ANSIBLE_PIPELINING: "True", ANSIBLE_PYTHON_INTERPRETER: "/usr/bin/python3" };
  const { code, stdout } = await place.shell(`ansible-playbook -i ${at("hosts")} -e change=${file} ${at("site.yml")}`, {
    env,
  });
  expect([code, stdout]).toEqual([2, expect.stringMatching(/web1 .*changed=2 .*failed=0.*web3 .*failed=1/s)]);
  expect(contentOf(place)).toEqual([after, after, "listen 81\nworkers 2\n"]);
});

needs("curl", rootUser).test("sockets: a check says which flag reaches its socket, before a call", async () => {
  const answers: Answer[] = [planned(["WRITE a.txt"]), done(write("a.txt", "a\n"))];
  await using place = openPlace(answers);
  const socket = `/run/pai-test-${process.pid}.sock`;
  const service = Bun.serve({ unix: socket, fetch: () => new Response("up") });
  const check = ["--check", `curl -sS --unix-socket ${socket} http://x/`];
  const run = async (...flags: readonly string[]) =>
    readOutcome(await place.pai(["run", "-y", "--json", ...flags, ...check, "write a"]));
  const shut = await run();
  const message = expect.stringContaining(`--allow-read ${socket}`);
  expect(shut).toMatchObject({ code: 12, calls: { made: 0 }, error: { message } });
  expect((await run("--allow-read", socket)).status).toBe("verified");
  await service.stop(true);
});

test("logs: the end of a pipe and the lines of errors reach the model, and a folder of logs by looks", async () => {
  const answers: Answer[] = [talked("the disk"), planned(["SNIFF_LOGS error"]), talked("the disk")];
  await using place = openPlace(answers);
  const folder = join(place.spare, "logs");
  mkdirSync(folder);
  const line = (at: number) => `${new Date(Date.now() - (9000 - at) * 1000).toISOString()} INFO request ${at} served\n`;
  const log = join(folder, "app.log");
  writeFileSync(log, Array.from({ length: 9000 }, (_, at) => line(at)).join(""));
  appendFileSync(log, `${new Date().toISOString()} ERROR disk /dev/sdb1 is read-only\n`);
  await place.shell(`tail -n 5000 ${log} | "$PAI" ask "what went wrong?"`);
  await place.shell(`"$PAI" ask --show ${folder} "what went wrong in the last hour?"`);
  const asked = place.gemini.requests.map(({ body }) => body.includes("ERROR disk /dev/sdb1 is read-only"));
  expect(asked).toEqual([true, false, true]);
});

test("cron: without HOME, terminal or shell one document on standard output, and nothing beside it", async () => {
  await using place = openPlace(made, { "app.conf": before });
  const line = `env -i GEMINI_API_KEY=$GEMINI_API_KEY PAI_BASE_URL=$PAI_BASE_URL $PAI run -y --json -q "four workers"`;
  const ran = await place.shell(line);
  expect([readOutcome(ran).status, ran.stderr, place.read("app.conf")]).toEqual(["unverified", "", after]);
});
