/** The tool-loop's own tools: tasks, which live outside the messages, and explore. */

import type { AnyAction } from "../core/action.ts";
import { renderTasks, type TasksResult, updateTask, writeTasks } from "../core/conversation.ts";
import { type Call, type CallResult, isFields, type Json, type Message, type Tool } from "../core/model.ts";
import { ask } from "./ask.ts";
import { noteAnswer } from "./evidence.ts";
import { perform } from "./perform.ts";
import explorePrompt from "./prompts/explore.md" with { type: "text" };
import type { Run } from "./run.ts";

const object = (properties: Readonly<Record<string, Json>>, required: readonly string[]): Json => ({
  type: "object",
  properties,
  required,
});
const text: Json = { type: "string" };

export const innerTools: readonly Tool[] = [
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
  {
    name: "read_tasks",
    description: "Shows the task list.",
    schema: object({}, []),
  },
];

const names: ReadonlySet<string> = new Set(innerTools.map(({ name }) => name));

export interface InnerTools {
  has(name: string): boolean;
  run(call: Call): Promise<CallResult>;
}

export function createInnerTools(run: Run, explore: (task: string) => Promise<string>): InnerTools {
  const keep = (result: TasksResult): string => {
    if (result.ok) {
      run.record.conversation = { ...run.record.conversation, tasks: result.tasks };
      run.emit({ type: "tasks.updated", tasks: result.tasks });
    }
    return result.text;
  };

  const answer = async ({ name, input }: Call): Promise<{ ok: boolean; text: string }> => {
    if (name === "read_tasks") return { ok: true, text: renderTasks(run.record.conversation.tasks) };
    if (name === "explore") {
      const task = isFields(input) ? String(input["task"] ?? "") : "";
      return task.trim() === ""
        ? { ok: false, text: "explore: task is missing" }
        : { ok: true, text: await explore(task) };
    }
    const result = name === "write_tasks" ? writeTasks(input) : updateTask(run.record.conversation.tasks, input);
    return { ok: result.ok, text: keep(result) };
  };

  return {
    has: (name) => names.has(name),
    async run(call) {
      run.emit({ type: "call.started", id: call.id, action: call.name, target: "" });
      const { ok, text: said } = await answer(call);
      run.emit({
        type: "call.finished",
        id: call.id,
        action: call.name,
        target: "",
        ok,
        text: said.split("\n", 1)[0] ?? "",
      });
      return { id: call.id, name: call.name, ok, text: said };
    },
  };
}

const mostTurns = 30;
const toolNames: ReadonlySet<string> = new Set(["glob", "grep", "ls", "read"]);

/** An action as models are offered it. */
export const toTool = ({ tool, about, toolSchema }: AnyAction): Tool => ({
  name: tool,
  description: about,
  schema: toolSchema(),
});

/** The child's answer; at the end of its turns what it found so far. */
export async function explore(run: Run, task: string, actions: readonly AnyAction[]): Promise<string> {
  const looks = actions.filter(({ tool }) => toolNames.has(tool));
  const byTool = new Map(looks.map((action) => [action.tool, action]));
  const tools = looks.map(toTool);
  const found: string[] = [];
  let messages: readonly Message[] = [{ role: "user", text: task }];
  for (let turn = 1; turn <= mostTurns && !run.ledger.exhausted; turn += 1) {
    const reply = await ask(run, { purpose: "explore", system: explorePrompt, messages, tools, format: null });
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
      return {
        id,
        name,
        ok: report?.ok ?? false,
        text: report?.text ?? `there is no tool ${name} here; there are ${[...byTool.keys()].join(", ")}`,
      };
    });
    messages = [
      ...messages,
      { role: "assistant", text: reply.text, calls: reply.calls, native: reply.native },
      { role: "tools", results },
    ];
  }
  return `(ended before it was finished)\n${found.join("\n\n")}`;
}
