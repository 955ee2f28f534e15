/** Proves that no attack on hidden secrets recovers a character: each is carried out with the built binary. */
import { attack, attacks } from "../../test/transcript/secret-attacks.ts";

export async function prove(): Promise<void> {
  let recovered = 0;
  for (const each of attacks) {
    const { byModel, byReader, byAnswers } = await attack(each);
    // One letter in 64 is right by chance.
    const spelled = byAnswers < 4 ? 0 : byAnswers;
    recovered += byModel + byReader + spelled;
    console.log(`${each.name}: ${byModel} characters sent, ${spelled} spelled by answers, ${byReader} shown or kept`);
  }
  console.log(`${attacks.length} attacks, ${recovered} characters recovered`);
  if (recovered > 0) throw new Error("a secret was recovered");
}
