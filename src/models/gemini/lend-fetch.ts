/** Lends pai's fetch to an SDK that accepts none, for the duration of one call and only for its request. */

import type { SendRequest } from "../wire/exchange.ts";

const mark = "x-pai-call";
const lent = new Map<string, (url: string, init: RequestInit) => void>();
let original: typeof fetch | null = null;
let serial = 0;

const dispatch = Object.assign(
  (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    const send = lent.get(headers.get(mark) ?? "");
    if (send === undefined) return (original ?? fetch)(input, init);
    headers.delete(mark);
    send(String(input), { ...init, headers });
    // The SDK never gets the answer: it would read it at the same time as pai. The promise is collected with the call.
    return new Promise(() => {});
  },
  { preconnect: fetch.preconnect },
);

/**
 * Runs `call`, which must put the given headers on its request; every other fetch of the process works as usual.
 * Resolves to the answer of `send`, and throws what `send` or `call` throws.
 */
export async function lendFetch(
  send: SendRequest,
  call: (headers: Readonly<Record<string, string>>) => Promise<unknown>,
): Promise<Response> {
  serial += 1;
  const id = String(serial);
  if (lent.size === 0) {
    original = globalThis.fetch;
    globalThis.fetch = dispatch;
  }
  try {
    return await new Promise((resolve, reject) => {
      lent.set(id, (url, init) => resolve(send(url, init)));
      call({ [mark]: id }).catch(reject);
    });
  } finally {
    lent.delete(id);
    if (lent.size === 0 && original !== null) globalThis.fetch = original;
  }
}
