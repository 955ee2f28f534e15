/** Runs every attack of probe.c bare and in each level, as whoever starts it: `attack-levels.ts FOLDER`; prints JSON. */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { levelOf, type Way } from "../../../src/workspace/sandbox/confinement.ts";
import { removeTree } from "../../../src/workspace/sandbox/find-level.ts";
import { bareEnv, openOnly } from "./bare-confinement.ts";

/** By name of the attack or work: whether it was done. */
export type Answers = Readonly<Record<string, boolean>>;

export interface Attacked {
  readonly way: Way | "none";
  /** What holds, or why the level is not to be had here. */
  readonly text: string;
  readonly answers: Answers;
}

const canaries = ["/dev/shm/pai-prove-canary", "/tmp/pai-prove-canary"];
const files: Readonly<Record<string, string>> = {
  "ws/.git/HEAD": "ref: refs/heads/main\n",
  "ws/.git/config": "[core]\n",
  "ws/.git/hooks/sample": "x",
  "ws/sub/.git/config": "[core]\n",
  "ws/.env": "KEY=canary\n",
  "ws/deep/id_rsa": "canary\n",
  "ws/held/.env": "KEY=canary\n",
  "ws/shut/.env": "KEY=canary\n",
  "secret/key": "canary\n",
  "outside/f": "x",
  "outside/mv": "x",
  "outside/t": "x",
  "outside/u": "x",
  "outside/x": "x",
  "home/.bashrc": "x",
  "home/.npmrc": "before\n",
};

/** A fresh world in `folder`, beside the probe itself. */
function makeWorld(folder: string): void {
  for (const name of readdirSync(folder)) if (name !== "probe") removeTree(join(folder, name));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  chmodSync(join(folder, "ws/shut"), 0);
  symlinkSync("../outside/f", join(folder, "ws/link"));
  linkSync(join(folder, "ws/.env"), join(folder, "ws/config.txt"));
  for (const canary of canaries) writeFileSync(canary, "x");
}

const readAnswers = (text: string): Answers =>
  Object.fromEntries([...text.matchAll(/^(\S+) (yes|no) /gm)].map(([, name = "", said]) => [name, said === "yes"]));

interface Neighbours {
  readonly words: readonly string[];
  /** Puts back what a fresh world lacks. */
  readonly renew: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** What stands outside: a victim, services on every kind of socket. */
async function startNeighbours(folder: string): Promise<Neighbours> {
  const user = process.getuid?.() ?? 0;
  const victim = Bun.spawn(["sleep", "600"], { env: { CANARY: "1" }, cwd: folder, stdin: Bun.file("/etc/hostname") });
  const keeper = Bun.spawn([join(folder, "probe"), "serve", `${user}`], { stdin: "pipe", stdout: "pipe" });
  const tcp = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const udp = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: { data: (socket, _, port, address) => void socket.send("y", port, address) },
  });
  const said = await keeper.stdout.getReader().read();
  if (!`${Buffer.from(said.value ?? [])}`.startsWith("ready")) throw new Error("the neighbours did not start");
  let service: { stop(): void } | null = null;
  let others: readonly Bun.Subprocess<"pipe", "pipe">[] = [];
  const serveApart = async (...words: readonly string[]) => {
    const cwd = join(folder, "outside");
    const child = Bun.spawn([join(folder, "probe"), "listen", ...words], { cwd, stdin: "pipe", stdout: "pipe" });
    await child.stdout.getReader().read();
    return child;
  };
  const secrets = setInterval(() => {
    if (!existsSync(join(folder, "home"))) return;
    for (const name of ["home/.npmrc", "home/.netrc"]) {
      writeFileSync(join(folder, `${name}.new`), "canary\n");
      renameSync(join(folder, `${name}.new`), join(folder, name));
    }
  }, 100);
  return {
    words: [folder, `${victim.pid}`, `${tcp.port}`, `${udp.port}`, `${user}`],
    async renew() {
      service?.stop();
      for (const each of others) each.kill();
      others = await Promise.all([
        serveApart("relative.sock"),
        serveApart(join(folder, "outside/network.sock"), "apart"),
      ]);
      service = Bun.listen({ unix: join(folder, "outside/docker.sock"), socket: { data() {} } });
    },
    async end() {
      victim.kill(9);
      keeper.stdin.end();
      await keeper.exited;
      service?.stop();
      clearInterval(secrets);
      for (const each of others) each.kill();
      tcp.stop();
      udp.close();
      for (const canary of canaries) rmSync(canary, { force: true });
    },
  };
}

async function attack(folder: string, way: Way, command: string) {
  const over = { home: join(folder, "home"), own: [join(folder, "secret")] };
  const { state, run } = await openOnly(way, join(folder, "ws"), over);
  if (state.level !== levelOf(way)) return { text: state.why ?? state.text, output: null };
  return { text: state.text, output: (await run(command))?.output ?? "" };
}

/** Without any sandbox; the neighbours must be able to answer meanwhile. */
async function attackBare(command: readonly string[]) {
  const child = Bun.spawn([...command], { env: { ...bareEnv, TMPDIR: "/tmp" }, stdout: "pipe" });
  return { text: "no sandbox", output: await new Response(child.stdout).text() };
}

async function attackAll(folder: string): Promise<readonly Attacked[]> {
  const neighbours = await startNeighbours(folder);
  const done: Attacked[] = [];
  for (const way of ["none", "landlock", "bubblewrap", "namespaces"] as const) {
    makeWorld(folder);
    await neighbours.renew();
    const command = [join(folder, "probe"), ...neighbours.words];
    const { text, output } = way === "none" ? await attackBare(command) : await attack(folder, way, command.join(" "));
    await Bun.sleep(3300);
    const survived = existsSync(join(folder, "ws/survived"));
    done.push({ way, text, answers: output === null ? {} : { ...readAnswers(output), survive: survived } });
  }
  await neighbours.end();
  return done;
}

if (import.meta.main) {
  console.log(JSON.stringify(await attackAll(process.argv[2] ?? "")));
  process.exit(0);
}
