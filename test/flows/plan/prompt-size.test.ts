/** What the prompts cost: a fixed overhead that stays small, and a briefing within its budget whatever the folder holds. */
import { expect, test } from "bun:test";
import type { ModelRequest } from "../../../src/core/model.ts";
import { encodeGemini } from "../../../src/models/gemini/encode.ts";
import { finish, modify, plan, write } from "../plans.ts";
import { type Files, play, type Setup } from "../scripted.ts";

const tokens = (characters: number) => Math.ceil(characters / 4);
const lines = [plan({ steps: ["WRITE hello.py"] }), write("hello.py", 'print("hello")\n') + finish()];
const task = "Create a program that says hello";

async function requestsIn(files: Files): Promise<readonly [ModelRequest, ModelRequest]> {
  const [first, second] = (await play({ files, task, lines })).requests;
  if (first === undefined || second === undefined) throw new Error("two calls are expected");
  return [first, second];
}

const bodyOf = (request: ModelRequest) => JSON.stringify(encodeGemini("gemini-2.5-flash", request));
const said = ({ messages }: ModelRequest) =>
  messages.map((message) => ("text" in message ? message.text : "")).join("");

test("both calls together carry at most 1,500 tokens that are not the user's, the execution prompt 450", async () => {
  const [first, second] = await requestsIn({});
  const schema = JSON.stringify(first.format?.schema ?? null);
  expect(tokens(second.system.length)).toBeLessThanOrEqual(450);
  expect(tokens(first.system.length + schema.length + second.system.length)).toBeLessThanOrEqual(1500);
});

test("the first request of a small folder is at most 8 KB, as Gemini gets it", async () => {
  const files = { "README.md": "# Hello\n", "src/main.py": "print(1)\n", "src/util.py": "def f():\n    pass\n" };
  const [first] = await requestsIn(files);
  expect(Buffer.byteLength(bodyOf(first))).toBeLessThanOrEqual(8 * 1024);
});

test("in an empty folder both user messages stay under 100 tokens", async () => {
  const [first, second] = await requestsIn({});
  expect(tokens(said(first).length)).toBeLessThanOrEqual(100);
  expect(tokens(said(second).length)).toBeLessThanOrEqual(100);
});

/** What the two calls of these tasks took at d59dcbc, before looks, evidence and carry-over: everything sent, in tokens. */
const before = { make: 1404, change: 1537 };
const environment = "Debian GNU/Linux 12 (bookworm), x64; python 3.11, node 20, gcc 12, make, git; packages by npm";

test("a small task takes at most a tenth more than before there were looks and evidence", async () => {
  const sizeOf = ({ system, format, messages }: ModelRequest) =>
    system.length + JSON.stringify(format?.schema ?? null).length + said({ messages } as ModelRequest).length;
  const sum = async (setup: Setup) => {
    const { requests, purposes } = await play({ ...setup, options: { environment } });
    expect(purposes).toBe("plan execute");
    return tokens(requests.reduce((all, request) => all + sizeOf(request), 0));
  };
  const bmi =
    'def bmi(weight, height):\n    return weight / (height * height)\n\n\ndef category(value):\n    if value < 18.5:\n        return "Underweight"\n    if value < 25:\n        return "Normal"\n    return "Obese"\n';
  const edit = '    if value < 30:\n        return "Overweight"\n    return "Obese"\n';
  const change = [plan({ steps: ["MODIFY bmi.py"] }), modify("bmi.py", ['    return "Obese"\n', edit]) + finish()];
  const files = { "bmi.py": bmi, "README.md": "# BMI\n\nA calculator.\n" };
  expect(await sum({ task, lines })).toBeLessThanOrEqual(1.1 * before.make);
  const changed = await sum({ files, task: "add the category Overweight from 25 to 30", lines: change });
  expect(changed).toBeLessThanOrEqual(1.1 * before.change);
});

test("2,000 files, among them large ones: tree and context stay within their budgets", async () => {
  const files: Record<string, string> = {
    "AGENTS.md": "Be brief.\n".repeat(4000),
    "src/hello.py": "x = 1\n".repeat(9000),
  };
  for (let n = 0; n < 2000; n += 1)
    files[`src/part${n % 40}/hello_program_${n}.py`] = `print("hello ${n}")\n`.repeat(20);
  const [first, second] = await requestsIn(files);
  const tree = /<tree>\n(.*?)\n<\/tree>/s.exec(said(first))?.[1] ?? "";
  expect(tree.length).toBeGreaterThan(1000);
  expect(tree.length).toBeLessThanOrEqual(10_000);
  expect(said(first).length).toBeLessThanOrEqual(8_000 + 10_000 + 20_000 + 1_500);
  expect(said(second).length).toBeLessThanOrEqual(12_000 + 2_000);
});
