/** Every answer to every question. */
import { expect, test } from "bun:test";
import { couldAnswer, isContinue, readAnswer } from "../../../src/ui/prompt/read-answer.ts";

const read = (text: string | null) => readAnswer(text, { feedback: true });

test("yes and no in two languages, in any case", () => {
  for (const word of ["y", "yes", "ya", "ok", "oke", "lanjut", " Y ", "YES\r", "yep", "sure", "okay"])
    expect([word, read(word)]).toEqual([word, "yes"]);
  for (const word of ["n", "no", "tidak", "batal", "N ", "nope", "no thanks"])
    expect([word, read(word)]).toEqual([word, "no"]);
});

test("end of input is a no", () => expect(read(null)).toBe("no"));

test("Enter, one unknown character and one unknown word ask again", () => {
  for (const text of ["", "  ", "x", "f", "f ", "maybe", "yy", "go"])
    expect([text, read(text)]).toEqual([text, "again"]);
});

test("two words or more, or anything after f, is feedback", () => {
  expect(read("pakai Python saja")).toEqual({ feedback: "pakai Python saja" });
  expect(read("no, keep the header")).toEqual({ feedback: "no, keep the header" });
  for (const text of ["yes, but in Rust", "ok use two files", "y no tests"])
    expect(read(text)).toEqual({ feedback: text });
  expect(read("f rust")).toEqual({ feedback: "rust" });
  expect(read("F use two\nfiles")).toEqual({ feedback: "use two\nfiles" });
});

test("always holds where it is offered, and is never a correction", () => {
  for (const text of ["a", "always", "yes always", "Yes, always."]) {
    expect([text, readAnswer(text, { feedback: true, always: true })]).toEqual([text, "always"]);
    expect([text, read(text)]).toEqual([text, "again"]);
  }
});

test("a yes with words that add nothing is asked about, a single word of yes is one", () => {
  for (const text of ["yes please", "yes, go", "ok thank you", "Sure, go ahead!", "yes do it."])
    expect([text, read(text)]).toEqual([text, "again"]);
  for (const text of ["yep", "Sure", "okay.", "yeah"]) expect([text, read(text)]).toEqual([text, "yes"]);
});

test("a command of a session or of a shell is no correction", () => {
  for (const text of ["!git diff", "/config keep", "/undo"]) expect([text, read(text)]).toEqual([text, "again"]);
  expect(read("/etc/hosts is the wrong file")).toEqual({ feedback: "/etc/hosts is the wrong file" });
});

test("a question that takes no feedback asks again", () => {
  expect(readAnswer("use two files", { feedback: false })).toBe("again");
  expect(readAnswer("ya", { feedback: false })).toBe("yes");
});

test("next steps run at these words only", () => {
  const words = ["y", "ya", "yes", "ok", "oke", "go", "lanjut", "continue", "proceed", " Lanjut "];
  expect(words.filter((word) => !isContinue(word))).toEqual([]);
  expect(["", "n", "go on", "yes please", "lanjutkan"].filter(isContinue)).toEqual([]);
});

test("d is a yes that wants the diff first, only where the question takes it", () => {
  expect(readAnswer("d", { feedback: true, review: true })).toBe("review");
  expect(readAnswer("d", { feedback: true })).toBe("show");
  expect(readAnswer("d", { feedback: false })).toBe("show");
  expect(read("?")).toBe("help");
});

test("typed before a question, what could answer one is told from what is a message", () => {
  const answers = ["", "y", "N", "d", "a", "?", "2", "yes", "ok please", "no thanks", "always", "lanjut", "go"];
  expect(answers.filter((text) => !couldAnswer(text))).toEqual([]);
  expect(["types", "/undo", "!ls", "and test it", "f use tabs", "yes, but in two files"].filter(couldAnswer)).toEqual(
    [],
  );
});
