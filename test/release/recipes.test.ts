/** The recipes of docs/install.md: run where this machine can, else read by whoever will read them. */
import { beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { flagTable } from "../../src/cli/flags.ts";
import { exitMeanings } from "../../src/cli/manual.ts";
import { newFolder } from "../grounds.ts";
import { needs } from "../needs.ts";
import { findBinary } from "../transcript/harness.ts";
import { installer, makeRelease, run as runIn, standIn } from "./fixture.ts";
import { finished, own, ownRoot } from "./namespace.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/install.md"), "utf8");
const shelf = newFolder("disk", "recipes");
let release = "";
beforeAll(async () => {
  release = await makeRelease(join(shelf, "pai-release"), "0.2.0", standIn("0.2.0", 'echo "$*" >>"$HOME/asked"'));
  writeFileSync(join(release, "install.sh"), readFileSync(installer));
});

/** Fenced blocks of a language below a heading. */
function blocks(heading: string, language: string): readonly string[] {
  const section = page.split(/^## /m).find((each) => each.startsWith(heading)) ?? "";
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, text = ""]) =>
    found === language ? [text] : [],
  );
}

const path = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const run = (script: string, env: Readonly<Record<string, string>> = {}) =>
  runIn("sh", ["-c", script], shelf, { PATH: path, HOME: shelf, ...env });

/** A program in a folder of its own for PATH. */
function makeProgram(name: string, text: string): string {
  const folder = mkdtempSync(join(shelf, "bin-"));
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return folder;
}

const github = Bun.YAML.parse(blocks("GitHub Actions", "yaml")[0] ?? "") as {
  readonly jobs: { readonly fix: { readonly steps: readonly { readonly run?: string }[] } };
};
const { pai: gitlab } = Bun.YAML.parse(blocks("GitLab CI", "yaml")[0] ?? "") as {
  readonly pai: { before_script: readonly string[]; allow_failure: { exit_codes: readonly number[] } };
};

test("every flag of pai in the recipes exists, and every exit code", () => {
  const known = new Set(
    Object.keys(flagTable).map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)),
  );
  const lines = page
    .split("\n")
    .filter((line) => /\bpai("| )(run|-m|doctor|demo|uninstall)/.test(line) && !line.includes("apt-get"));
  const flags = lines.flatMap((line) =>
    [...line.replace(/"[^"]*"/g, '""').matchAll(/ --([a-z-]+)/g)].map(([, flag = ""]) => flag),
  );
  expect(flags.length).toBeGreaterThan(8);
  const others = ["rm", "version", "to", "user"];
  expect(flags.filter((flag) => !known.has(flag) && !others.includes(flag))).toEqual([]);
  const codes = exitMeanings.map(([code]) => Number(code));
  for (const code of [...gitlab.allow_failure.exit_codes, 9, 12, 13, 5, 6]) expect(codes).toContain(code);
});

test("the air-gapped folder: what is carried over is enough", () => {
  const [fetch = "", install = ""] = blocks("A server without a network", "sh");
  const names = /for file in (.*?); do/.exec(fetch)?.[1]?.split(" ") ?? [];
  mkdirSync(join(shelf, "carried/pai-release"), { recursive: true });
  for (const name of names) writeFileSync(join(shelf, "carried/pai-release", name), readFileSync(join(release, name)));
  const done = run(`cd carried && ${install}`, {
    PAI_INSTALL_DIR: join(shelf, "carried/bin"),
    PATH: `${shelf}/carried/bin:/usr/bin:/bin`,
  });
  expect(done).toEqual({ out: expect.stringContaining("pai 0.2.0"), status: 0 });
});

test("GitHub's job ends with the code that it says", () => {
  const script = github.jobs.fix.steps.map((step) => step.run ?? "").find((text) => text.includes("case")) ?? "";
  for (const [code, expected, words] of [
    [0, 0, ""],
    [9, 9, "taken back"],
    [12, 12, "--only"],
    [13, 13, "budget"],
    [6, 0, "not available"],
    [4, 4, ""],
  ] as const) {
    mkdirSync(join(shelf, "bin"), { recursive: true });
    const pai = `#!/bin/sh\ntest -e pai.json && exit 3 # these would be settings of the project\nexit ${code}\n`;
    writeFileSync(join(shelf, "bin/pai"), pai, { mode: 0o755 });
    const { out, status } = run(script, { PATH: `${makeProgram("git", ":")}:/usr/bin:/bin` });
    expect([status, out]).toEqual([expected, expect.stringContaining(words)]);
  }
});

test("GitHub's and GitLab's lines of installation install", () => {
  const lines = [...github.jobs.fix.steps.map((step) => step.run ?? ""), ...gitlab.before_script];
  const installs = lines.filter((line) => line.includes("install.sh"));
  expect(installs).toHaveLength(2);
  const curl = makeProgram("curl", `cat "${installer}"`);
  for (const line of installs) {
    const done = run(line, { PAI_MIRROR: release, PREFIX: join(shelf, "ci"), PATH: `${curl}:/usr/bin:/bin` });
    expect(done).toEqual({ out: expect.stringContaining("installed pai 0.2.0"), status: 0 });
  }
});

needs(ownRoot, "ldd").test("what the Dockerfile copies is enough to play the demo as its user", () => {
  const [text = ""] = blocks("In a container", "dockerfile");
  const copy = /^RUN (mkdir[\s\S]*?done)$/m.exec(text)?.[1] ?? "";
  const [, uid = ""] = /^USER (\S+)$/m.exec(text) ?? [];
  const out = join(shelf, "image");
  mkdirSync(join(out, "usr/bin"), { recursive: true });
  writeFileSync(join(out, "usr/bin/pai"), readFileSync(findBinary()), { mode: 0o755 });
  const filled = run(copy.replaceAll("\\\n", "").replaceAll("/out", out));
  expect([filled.status, filled.out]).toEqual([0, ""]);
  const user = process.getuid?.() === 0 ? `--userspec=${uid} ` : "";
  const script = `mount --rbind /proc "${out}/proc" && env -i PATH=/usr/bin:/usr/sbin chroot ${user}"${out}" /usr/bin/pai demo`;
  const done = spawnSync(own[0] ?? "", [...own.slice(1), "sh", "-c", script], { encoding: "utf8" });
  expect([done.status, done.stdout.trimEnd()]).toEqual([0, expect.stringMatching(/cd your-project && pai$/)]);
});

needs("systemd-analyze").test("systemd takes the service and the timer", () => {
  const [service = "", timer = ""] = blocks("Every night", "ini");
  const program = join(makeProgram("pai", ":"), "pai");
  writeFileSync(join(shelf, "pai-nightly.service"), service.replace("/usr/local/bin/pai", program));
  writeFileSync(join(shelf, "pai-nightly.timer"), timer);
  const { out, status } = run("systemd-analyze verify ./pai-nightly.service ./pai-nightly.timer");
  expect([status, out.split("\n").filter((line) => line.includes("pai-nightly"))]).toEqual([0, []]);
});

/** Ansible takes half a minute: it has its turn with the tests of a finished release. */
needs("ansible-playbook", finished).test("Ansible's task installs, and changes nothing the second time", async () => {
  writeFileSync(join(shelf, "play.yml"), blocks("By Ansible", "yaml")[0] ?? "");
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => new Response(Bun.file(join(release, new URL(url).pathname.replace("/v0.2.0/", "/")))),
  });
  const [pai_to, pai_script] = [join(shelf, "ansible"), join(shelf, "installer.sh")];
  const variables = { pai_to, pai_script, pai_from: `http://127.0.0.1:${server.port}` };
  const play = async () => {
    const flags = ["-i", "localhost,", "-c", "local", "-e", JSON.stringify(variables), "play.yml"];
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: shelf, LC_ALL: "C.UTF-8" };
    const child = Bun.spawn(["ansible-playbook", ...flags], { cwd: shelf, env, stdout: "pipe", stderr: "inherit" });
    return await new Response(child.stdout).text();
  };
  expect(await play()).toMatch(/changed=[12] .*failed=0/);
  expect(readFileSync(join(shelf, "ansible/pai"), "utf8")).toContain("0.2.0");
  expect(await play()).toMatch(/changed=0 .*failed=0/);
  await server.stop(true);
});
