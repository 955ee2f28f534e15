/** Lends our own fetch to an SDK that offers no way to pass one: for the moment of one call, and for that call only. */

import type { SendRequest } from "../wire/exchange.ts";

const mark = "x-pai-call";
const lent = new Map<string, SendRequest>();
let original: typeof fetch | null = null;
let serial = 0;

const dispatch = Object.assign(
  (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    const send = lent.get(headers.get(mark) ?? "");
    if (send === undefined) return (original ?? fetch)(input, init);
    headers.delete(mark);
    return send(String(input), { ...init, headers });
  },
  { preconnect: fetch.preconnect },
);

/** Runs `call`, which must put the given headers on its requests; every other fetch of the process goes its usual way. */
export async function lendFetch<T>(
  send: SendRequest,
  call: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  serial += 1;
  const id = String(serial);
  if (lent.size === 0) {
    original = globalThis.fetch;
    globalThis.fetch = dispatch;
  }
  lent.set(id, send);
  try {
    return await call({ [mark]: id });
  } finally {
    lent.delete(id);
    if (lent.size === 0 && original !== null) globalThis.fetch = original;
  }
}
