/** One call in a process of its own, for what the runtime reads only when it starts; prints the reply or the error. */
import { type PaiError, toPaiError } from "../../src/core/error.ts";
import { openModel } from "../../src/models/open.ts";
import { options, take } from "./loopback.ts";

const [id = "", baseUrl = ""] = process.argv.slice(2);
const show = (text: string, error: PaiError | null) =>
  console.log(
    JSON.stringify({
      text,
      code: error?.code ?? null,
      message: error?.message ?? "",
      hint: error?.hint ?? "",
      notices,
    }),
  );
const notices: string[] = [];
const notify = ({ code }: { readonly code: string }) => notices.push(code);
try {
  const { text, error } = await take(await openModel(options({ id, baseUrl, proxyEnv: process.env, notify })));
  show(text, error);
} catch (thrown) {
  show("", toPaiError(thrown));
}
