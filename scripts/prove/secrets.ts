/** Proves with the built binary that no attack recovers a hidden secret, and measures the cost of hiding. */
import { createVeil } from "../../src/core/secrets/veil.ts";
import { attack, attacks } from "../../test/transcript/secret-attacks.ts";

const value = (at: number) => `Zx9${at}qWk${at * 7919}Lm${at * 104_729}pQ`;
const lines = (line: (at: number) => string) => Array.from({ length: 14_000 }, (_, at) => line(at)).join("");
const code = lines((at) => `export const handle${at} = (id: string) => fetch(\`/items/\${id}?page=${at}\`);\n`);
const names = lines((at) => `{"key": "item ${at}", "token_count": ${at}, "apiKey": null, "secret": false},\n`);

/** Processor time for a megabyte of text in milliseconds, as the third best of many. */
function measureHiding(given: string, known: number): number {
  const veil = createVeil();
  const secrets = Array.from({ length: known }, (_, at) => `password = "${value(at)}"\n`).join("");
  veil.hideRaw(secrets);
  const times = Array.from({ length: 40 }, (_, at) => {
    const text = Buffer.from(`${at} ${given}${secrets}`).toString("latin1");
    const before = process.cpuUsage();
    veil.hideRaw(text);
    const { user, system } = process.cpuUsage(before);
    return ((user + system) / 1000 / text.length) * 2 ** 20;
  });
  return times.sort((a, b) => a - b)[2] ?? 0;
}

export async function prove(): Promise<void> {
  let recovered = 0;
  for (const each of attacks) {
    const { byModel, byReader, byAnswers } = await attack(each);
    // One letter in 64 is right by chance, so a few do not count.
    const spelled = byAnswers < 4 ? 0 : byAnswers;
    recovered += byModel + byReader + spelled;
    console.log(`${each.name}: ${byModel} characters sent, ${spelled} spelled by answers, ${byReader} shown or kept`);
  }
  console.log(`${attacks.length} attacks, ${recovered} characters recovered`);
  for (const [what, text] of Object.entries({ code, "JSON that is full of names like key": names })) {
    const [none, ten] = [measureHiding(text, 0), measureHiding(text, 10)].map((ms) => ms.toFixed(1));
    console.log(`hiding in 1 MiB of ${what}: ${none} ms with nothing known, ${ten} ms with ten secrets known`);
  }
  if (recovered > 0) throw new Error("a secret was recovered");
}
