/** Words that are surely for the user, while the action script still arrives. */
import { expect, test } from "bun:test";
import { createWordsReader } from "../../../src/core/script/words.ts";

/** What is shown of a reply that arrives in pieces of `size` characters, and what of it before its end. */
function read(reply: string, { code = false, size = 3 } = {}) {
  const reader = createWordsReader(code);
  let early = "";
  for (let at = 0; at < reply.length; at += size) early += reader.push(reply.slice(at, at + size));
  return { early, all: early + reader.end() };
}

const long = "The cart adds its prices in total(), and nobody rounds them before they are shown.";

test.each([1, 3, 400])("prose and FINISH alone are shown while they arrive, in pieces of %d", (size) => {
  for (const reply of [long, `${long}\n\nShort.`, `FINISH::${long}`, `FINISH::EOT\n${long}\n\nMore.\nEND::EOT\n`]) {
    const { early, all } = read(reply, { size });
    const words = reply.replace(/FINISH::(EOT\n)?/, "").replace(/END::EOT\n/, "");
    expect(all.trim()).toBe(words.trim());
    expect(early.length).toBeGreaterThan(words.length - 30);
  }
});

test.each([1, 3, 400])("what comes with actions is no words: names of files, bodies, next steps (%d)", (size) => {
  const script = `FILES: src/a.py, src/b.py, docs/readme.md\nI round the price.\n\nMODIFY::src/a.py::EOT\n<<<<<<< SEARCH\n${long}\n=======\nb\n>>>>>>> REPLACE\nEND::EOT\nFINISH::EOT\nDone, all of it.\nEND::EOT\n`;
  const said = (reply: string) => read(reply, { size }).all.trim();
  expect(said(script)).toBe("I round the price.");
  expect(said(`I look first.\nREAD::src/a.py\nSEARCH::x\n${long}`)).toBe("I look first.");
  expect(said(`FINISH::EOT\nAll is well.\nNEXT: ${long}\nEND::EOT`)).toBe("All is well.");
});

test("JSON, PLAN, reasoning and edits are not shown", () => {
  for (const reply of [`{"intent":"task","reply":"${long}"}`, "PLAN", "**PLAN**\n", `<think>${long}</think>PLAN`])
    expect(read(reply).all).toBe("");
  expect(read(`Like this:\n\`\`\`py\n${long}\n\`\`\`\nDone.`).all).toBe("Like this:\n");
  expect(read(`Like this:\n\`\`\`py\nRUN::x\n\`\`\`\nDone.`, { code: true }).all).toContain("RUN::x\n```\nDone.");
});

test.each([
  ["Words.\nFINISH\nSaid.\nEND\n", "Words.\nSaid.\n"],
  ["Words.\nFINISH:\nSaid.\nEND:EOT\n", "Words.\nSaid.\n"],
  ["FINISH::EOT\nSaid.\nEND\n", "Said.\n"],
  ["Words.\n```\nFINISH::EOT\nSaid.\nEND::EOT\n```\n", "Words.\n```\nSaid.\n"],
  ["END::EOT\n", ""],
])("the marks of a message are no words, however they are written: %j", (reply, words) => {
  const reader = createWordsReader(true);
  expect(reader.push(reply) + reader.end()).toBe(words);
});
