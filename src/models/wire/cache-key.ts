/** The key by which a service finds the cache of a conversation. */
import { digest } from "../../core/digest.ts";
import type { ModelRequest } from "../../core/model.ts";

/** The same for all requests of a conversation, which begin alike: the service sends them to the same cache. */
export const cacheKeyOf = ({ system, messages }: ModelRequest): string =>
  digest(JSON.stringify([system, messages[0] ?? null])).slice(0, 32);
