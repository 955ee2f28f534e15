/** Standard input and output as the streams of a protocol; nothing else is written to them. */
import { orNull } from "../../core/error.ts";
import type { Context } from "../command.ts";

export function openProtocolStreams({ out, shown, signal }: Context) {
  const text = new TextDecoder();
  const source = Bun.stdin.stream().getReader();
  /** Ends when the client disconnects or the process gets a signal to end. */
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      // It may have ended already.
      signal.addEventListener("abort", () => orNull(() => controller.close()), { once: true });
    },
    async pull(controller) {
      const { done, value } = await source.read();
      if (signal.aborted) return;
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  const output = new WritableStream<Uint8Array>({
    async write(bytes) {
      out(text.decode(bytes));
      await shown();
    },
  });
  return { input, output };
}
