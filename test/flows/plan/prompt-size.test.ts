/** What the prompts cost: a fixed overhead that stays small, and a briefing within its budget whatever the folder holds. */
import { expect, test } from "bun:test";
import { type ModelRequest, sizeOf } from "../../../src/core/model.ts";
import { encodeGemini } from "../../../src/models/gemini/bridge.ts";
import { finish, modify, planTo, write } from "../plans.ts";
import { type Files, play, type Setup } from "../scripted.ts";

const tokens = (characters: number) => Math.ceil(characters / 4);
const lines = [planTo("WRITE hello.py"), write("hello.py", 'print("hello")\n') + finish()];
const task = "Create a program that says hello";

async function requestsIn(files: Files): Promise<readonly [ModelRequest, ModelRequest]> {
  const [first, second] = (await play({ files, task, lines })).requests;
  if (first === undefined || second === undefined) throw new Error("two calls are expected");
  return [first, second];
}

const bodyOf = (request: ModelRequest) => JSON.stringify(encodeGemini("gemini-2.5-flash", request));
const said = ({ messages }: ModelRequest) =>
  messages.map((message) => ("text" in message ? message.text : "")).join("");

/** What the two prompts and the schema of a plan took when each call had its own (865a5658), in tokens. */
const apart = { prompts: 1284, make: 1404, change: 1537 };

/** The second request as services bill it: what repeats the first one weighs a tenth. */
function weighed([first, second]: readonly [ModelRequest, ModelRequest]): number {
  const [system, ...told] = [second.system.length, ...second.messages.map(sizeOf)];
  expect(second.system).toBe(first.system);
  expect(second.messages.slice(0, first.messages.length)).toEqual([...first.messages]);
  const repeated = system + told.slice(0, first.messages.length).reduce((sum, size) => sum + size, 0);
  return tokens(repeated + 0.1 * repeated + told.slice(first.messages.length).reduce((sum, size) => sum + size, 0));
}

test("both calls share one prompt of at most 990 tokens, which weighed is less than the two of before", async () => {
  const [first, second] = await requestsIn({});
  expect(tokens(first.system.length)).toBeLessThanOrEqual(990);
  expect(second.system).toBe(first.system);
  expect([first.format?.isOptional, second.format]).toEqual([true, null]);
  expect(1.1 * tokens(first.system.length)).toBeLessThanOrEqual(apart.prompts);
});

test("the first request of a small folder is at most 8 KB, as Gemini gets it", async () => {
  const files = { "README.md": "# Hello\n", "src/main.py": "print(1)\n", "src/util.py": "def f():\n    pass\n" };
  const [first] = await requestsIn(files);
  expect(Buffer.byteLength(bodyOf(first))).toBeLessThanOrEqual(8 * 1024);
});

test("in an empty folder both user messages stay under 100 tokens", async () => {
  const [first, second] = await requestsIn({});
  const [asked, , approved] = second.messages;
  expect(asked).toEqual(first.messages[0]);
  for (const message of [asked, approved])
    expect(tokens(message === undefined ? 0 : sizeOf(message))).toBeLessThanOrEqual(100);
});

const environment = "Debian GNU/Linux 12 (bookworm), x64; python 3.11, node 20, gcc 12, make, git; packages by npm";

test("a small task, weighed, takes less than when each call had a prompt of its own", async () => {
  const sum = async (setup: Setup) => {
    const { requests, purposes } = await play({ ...setup, options: { environment } });
    expect(purposes).toBe("plan execute");
    return weighed(requests as [ModelRequest, ModelRequest]);
  };
  const bmi =
    'def bmi(weight, height):\n    return weight / (height * height)\n\n\ndef category(value):\n    if value < 18.5:\n        return "Underweight"\n    if value < 25:\n        return "Normal"\n    return "Obese"\n';
  const edit = '    if value < 30:\n        return "Overweight"\n    return "Obese"\n';
  const change = [planTo("MODIFY bmi.py"), modify("bmi.py", ['    return "Obese"\n', edit]) + finish()];
  const files = { "bmi.py": bmi, "README.md": "# BMI\n\nA calculator.\n" };
  expect(await sum({ task, lines })).toBeLessThanOrEqual(apart.make);
  const changed = await sum({ files, task: "add the category Overweight from 25 to 30", lines: change });
  expect(changed).toBeLessThanOrEqual(apart.change);
});

test("2,000 files, among them large ones: tree and context stay within their budgets", async () => {
  const files: Record<string, string> = {
    "AGENTS.md": "Be brief.\n".repeat(4000),
    "src/hello.py": "x = 1\n".repeat(9000),
  };
  for (let n = 0; n < 2000; n += 1)
    files[`src/part${n % 40}/hello_program_${n}.py`] = `print("hello ${n}")\n`.repeat(20);
  const [first, second] = await requestsIn(files);
  const tree = /<tree[^>]*>\n(.*?)\n<\/tree>/s.exec(said(first))?.[1] ?? "";
  expect(tree.length).toBeGreaterThan(800);
  expect(tree.length).toBeLessThanOrEqual(950);
  expect(said(first).length).toBeLessThanOrEqual(8_000 + 950 + 21_000 + 1_500);
  expect(said(second).length - said(first).length).toBeLessThanOrEqual(2_000);
});
