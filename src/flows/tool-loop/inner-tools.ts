/** The tool-loop's own tools: the user's checks, the task list (kept outside of the messages), and explore. */

import { type Call, type CallResult, isFields, type Json, type Message, type Tool } from "../../core/model.ts";
import type { AnyAction } from "../../core/ports.ts";
import { renderTasks, type TasksResult, updateTask, writeTasks } from "../../core/session/conversation.ts";
import { ask } from "../ask.ts";
import { renderLikely } from "../briefing/briefing.ts";
import { userChecks } from "../checks/admit.ts";
import { describeCheck, runChecks } from "../checks/checks.ts";
import { noteAnswer } from "../evidence.ts";
import { perform } from "../perform.ts";
import { explorePrompt } from "../prompts/prompts.ts";
import type { Run } from "../run.ts";

const object = (properties: Readonly<Record<string, Json>>, required: readonly string[]): Json => ({
  type: "object",
  properties,
  required,
});
const text: Json = { type: "string" };

const checkTool: Tool = {
  name: "check",
  description: "Runs the user's checks now and shows how each ended, with the end of what a failed one said.",
  schema: object({}, []),
};

const innerTools: readonly Tool[] = [
  {
    name: "explore",
    description:
      "Sends a read-only helper through the project to answer a question; its answer comes back, not its reading.",
    schema: object({ task: text }, ["task"]),
  },
  {
    name: "write_tasks",
    description: "Replaces the task list.",
    schema: object(
      {
        tasks: {
          type: "array",
          items: object({ content: text, description: text, active_form: text }, ["content", "description"]),
        },
      },
      ["tasks"],
    ),
  },
  {
    name: "update_task",
    description: "Sets the status of one task.",
    schema: object(
      { id: { type: "integer" }, status: { type: "string", enum: ["pending", "in_progress", "completed"] } },
      ["id", "status"],
    ),
  },
  { name: "read_tasks", description: "Shows the task list.", schema: object({}, []) },
];

/** The loop's own tools. `check` is offered if there are checks; as the user's own commands they may always run. */
export const innerToolsOf = ({ checking, changing }: Run): readonly Tool[] =>
  checking.checks.length === 0 || changing.dryRun ? innerTools : [checkTool, ...innerTools];

async function runUserChecks(run: Run): Promise<string> {
  const reports = await runChecks(run, userChecks(run.checking));
  return reports
    .map((report) => (report.passed === true ? `passed: ${report.command}` : describeCheck(report)))
    .join("\n\n");
}

export function createInnerTools(run: Run, explore: (task: string) => Promise<string>) {
  const keep = (result: TasksResult): string => {
    if (result.ok) {
      run.conversation = { ...run.conversation, tasks: result.tasks };
      run.emit({ type: "tasks.updated", tasks: result.tasks });
    }
    return result.text;
  };

  const answer = async ({ name, input }: Call): Promise<{ ok: boolean; text: string }> => {
    if (name === "check") return { ok: true, text: await runUserChecks(run) };
    if (name === "read_tasks") return { ok: true, text: renderTasks(run.conversation.tasks) };
    if (name === "explore") {
      const task = isFields(input) ? String(input["task"] ?? "") : "";
      return task.trim() === ""
        ? { ok: false, text: "explore: task is missing" }
        : { ok: true, text: await explore(task) };
    }
    const result = name === "write_tasks" ? writeTasks(input) : updateTask(run.conversation.tasks, input);
    return { ok: result.ok, text: keep(result) };
  };

  const names = new Set(innerToolsOf(run).map(({ name }) => name));

  async function runOne(call: Call): Promise<CallResult> {
    run.emit({ type: "call.started", id: call.id, action: call.name, target: "" });
    const { ok, text: said } = await answer(call);
    const line = said.split("\n", 1)[0] ?? "";
    run.emit({ type: "call.finished", id: call.id, action: call.name, target: "", ok, text: line });
    return { id: call.id, name: call.name, ok, text: said };
  }

  /** Caps on tokens and cost are checked before each call, so with them explore calls run one after another. */
  const { tokens, cost } = run.calling.caps;
  const isParallel = ({ name }: Call) => name === "explore" && tokens === null && cost === null;

  return {
    has: (name: string): boolean => names.has(name),
    /** Runs the calls in their order, explore calls in parallel. Returns results in the order of the calls. */
    async run(calls: readonly Call[]): Promise<readonly CallResult[]> {
      const results = new Map<string, CallResult>();
      const exploring = calls.filter(isParallel).map(runOne);
      const explored = Promise.allSettled(exploring);
      for (const call of calls) if (!isParallel(call)) results.set(call.id, await runOne(call));
      for (const each of await explored) {
        if (each.status === "rejected") throw each.reason;
        results.set(each.value.id, each.value);
      }
      return calls.flatMap(({ id }) => results.get(id) ?? []);
    },
  };
}

const maxTurns = 30;
const toolNames: ReadonlySet<string> = new Set(["glob", "grep", "ls", "read"]);

export const toTools = (actions: readonly AnyAction[]): readonly Tool[] =>
  actions.map(({ tool, about, toolSchema }) => ({ name: tool, description: about, schema: toolSchema() }));

/** Has a helper with looks only answer `task`. When its turns run out, returns what it has written so far. */
export async function explore(run: Run, task: string, actions: readonly AnyAction[]): Promise<string> {
  const looks = actions.filter(({ tool }) => toolNames.has(tool));
  const byTool = new Map(looks.map((action) => [action.tool, action]));
  const tools = toTools(looks);
  const found: string[] = [];
  const likely = await renderLikely(run, task);
  let messages: readonly Message[] = [{ role: "user", text: likely === "" ? task : `${likely}\n\n${task}` }];
  for (let turn = 1; turn <= maxTurns && !run.ledger.exhausted; turn += 1) {
    const reply = await ask(run, { purpose: "explore", system: explorePrompt(), messages, tools, format: null });
    if (reply.text.trim() !== "") found.push(reply.text.trim());
    if (reply.calls.length === 0 && reply.stop === "length") break;
    if (reply.calls.length === 0) return reply.text;
    const calls = reply.calls.flatMap((call) => {
      const action = byTool.get(call.name.toLowerCase());
      return action === undefined ? [] : [{ id: call.id, name: action.name, input: action.fromTool(call.input) }];
    });
    const { reports } = await perform(run, calls, null);
    for (const report of reports) await noteAnswer(run, report);
    const byId = new Map(reports.map((report) => [report.id, report]));
    const results = reply.calls.map(({ id, name }) => {
      const report = byId.get(id);
      const said = report?.text ?? `unknown tool: ${name} here; there are ${[...byTool.keys()].join(", ")}`;
      return { id, name, ok: report?.ok ?? false, text: said };
    });
    messages = [
      ...messages,
      { role: "assistant", text: reply.text, calls: reply.calls, native: reply.native },
      { role: "tools", results },
    ];
  }
  return `(ended before it was finished)\n${found.join("\n\n")}`;
}
