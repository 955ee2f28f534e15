/** The tool-loop's own tools: tasks, which live outside the messages, and explore. */
import { renderTasks, type TasksResult, updateTask, writeTasks } from "../core/conversation.ts";
import { type Call, type CallResult, isFields, type Json, type Tool } from "../core/model.ts";
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
