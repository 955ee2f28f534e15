/** A session of many tasks against a model on this machine that works for ever: what it takes by task. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { comesTrue } from "../processes.ts";
import { openPlace } from "./harness.ts";
import { openScreen, ready } from "./screen.ts";

const window = 65_536;

interface Asked {
  readonly messages: readonly { readonly role: string }[];
  readonly tools?: readonly unknown[];
}

/** Chat Completions: looks first, then writes, then says so. */
function serveModel() {
  let requests = 0;
  let calls = 0;
  const answer = ({ messages, tools = [] }: Asked): object => {
    requests += 1;
    if (tools.length === 0) return { content: "The files were counted up, one task after another." };
    const since = messages.length - messages.findLastIndex(({ role }) => role === "user");
    const call = (name: string, args: object) => {
      calls += 1;
      return { index: 0, id: `call_${calls}`, type: "function", function: { name, arguments: JSON.stringify(args) } };
    };
    if (since === 1) return { tool_calls: [call("read", { path: `f${requests % 10}.txt` })] };
    const content = `number ${requests}\n${"some text of the file\n".repeat(60)}`;
    if (since === 3) return { tool_calls: [call("write", { path: `f${requests % 10}.txt`, content })] };
    return { content: `Counted to ${requests}. ${"That is what was asked for. ".repeat(10)}` };
  };
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/v1/models") return Response.json({ data: [{ id: "m", max_model_len: window }] });
      if (pathname !== "/v1/chat/completions") return new Response("", { status: 404 });
      const delta = answer((await request.json()) as Asked);
      const finish = "tool_calls" in delta ? "tool_calls" : "stop";
      const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
      const events = [{ choices: [{ index: 0, delta, finish_reason: null }] }]
        .concat([{ choices: [{ index: 0, delta: {}, finish_reason: finish as never }] }])
        .concat([{ choices: [], usage } as never]);
      const body = [...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`);
      return new Response(body.join(""), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, count: () => requests, stop: () => server.stop(true) };
}

export interface Taken {
  readonly task: number;
  /** MiB of resident memory. */
  readonly memory: number;
  /** Milliseconds of processor time since the task named before. */
  readonly cpu: number;
}

const numberIn = (text: string, shape: RegExp) => Number(shape.exec(text)?.[1] ?? 0);

/** Gives so many tasks to one session, and tells what it takes after each of `every`. */
export async function holdSession(tasks: number, every: number): Promise<readonly Taken[]> {
  const model = serveModel();
  const files = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`f${at}.txt`, "one\n"]));
  await using place = openPlace([], files);
  using screen = openScreen(place, { columns: 100, rows: 40 });
  const command = `PAI_BASE_URL=${model.url} exec "$PAI" -m local:m --mode tool-loop -y`;
  await screen.say(`sh -c 'echo $$ > ../spare/pid; ${command}'; echo "ended with $?"`, ready);
  const pid = readFileSync(join(place.spare, "pid"), "utf8").trim();
  const cpuOf = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  const taken: Taken[] = [];
  let cpu = cpuOf();
  for (let task = 1; task <= tasks; task += 1) {
    screen.enter(`count on ${task}`);
    const isDone = () => new RegExp(`count on ${task}\\n[^]*^pai> *$`, "m").test(screen.text().trimEnd());
    if (!(await comesTrue(isDone))) throw new Error("a task of the session did not end");
    if (task % every !== 0 && task !== 1) continue;
    const memory = Math.round(numberIn(readFileSync(`/proc/${pid}/status`, "utf8"), /VmRSS:\s+(\d+)/) / 1024);
    taken.push({ task, memory, cpu: cpuOf() - cpu });
    cpu = cpuOf();
  }
  await screen.say("exit", /ended with 0/);
  model.stop();
  return taken;
}
