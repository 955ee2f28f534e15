/** Networks of companies: own certificates, client certificates, proxies that want a login. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { newFolder } from "../grounds.ts";
import { makeCertificates } from "./certificate.ts";
import { sse } from "./loopback.ts";
import { says } from "./openai/openai-wire.ts";

const host = "model.invalid";
const { ca, made } = makeCertificates([host, "client"]);
const [server, client] = made;
const folder = newFolder("disk", "network");
const file = (name: string, content = "") => {
  const path = join(folder, name);
  if (content !== "") writeFileSync(path, content);
  return path;
};

interface Said {
  readonly text: string;
  readonly code: string | null;
  readonly message: string;
  readonly hint: string;
  /** Codes. */
  readonly notices: readonly string[];
}

/** Asks from a process with nothing but these variables. */
async function ask(baseUrl: string, env: Readonly<Record<string, string>> = {}, model = "openai:gpt-5"): Promise<Said> {
  const asking = Bun.spawn([process.execPath, join(import.meta.dir, "ask-once.ts"), model, baseUrl], {
    env: { HOME: folder, PATH: "", ...env },
    stderr: "inherit",
  });
  return JSON.parse(await asking.stdout.text()) as Said;
}

describe("TLS", () => {
  let plain: ReturnType<typeof Bun.serve>;
  let strict: ReturnType<typeof Bun.serve>;
  let at = "";
  let strictAt = "";
  let trusted: Readonly<Record<string, string>> = {};
  let answered = 0;
  const answer = () => {
    answered += 1;
    return sse([says("secure")]);
  };
  beforeAll(() => {
    const own = { cert: server?.cert ?? "", key: server?.key ?? "" };
    plain = Bun.serve({ port: 0, hostname: "127.0.0.1", tls: own, fetch: answer });
    strict = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { ...own, ca, requestCert: true, rejectUnauthorized: true },
      fetch: answer,
    });
    at = `https://127.0.0.1:${plain.port}/v1`;
    strictAt = `https://127.0.0.1:${strict.port}/v1`;
    trusted = { NODE_EXTRA_CA_CERTS: file("ca.pem", ca) };
  });
  afterAll(async () => {
    await Promise.all([plain.stop(true), strict.stop(true)]);
  });

  test("a network that re-signs TLS is named with what to do; NODE_EXTRA_CA_CERTS is enough (R48)", async () => {
    const [foreign, known] = await Promise.all([ask(at), ask(at, trusted)]);
    expect(foreign.code).toBe("tls");
    expect(foreign.hint).toContain("NODE_EXTRA_CA_CERTS");
    expect(known).toMatchObject({ text: "secure", code: null });
  });

  // F19: the key went to whoever had a certificate of any kind.
  test("certificates are verified whatever NODE_TLS_REJECT_UNAUTHORIZED says, and a warning names it", async () => {
    const before = answered;
    const lax = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    const [remote, local, known] = [await ask(at, lax), await ask(at, lax, "local:m"), answered];
    expect([remote.code, local.code, known - before]).toEqual(["tls", "tls", 0]);
    expect([remote.notices, local.notices]).toEqual([
      expect.arrayContaining(["tls_verified"]),
      expect.arrayContaining(["tls_verified"]),
    ]);
    const fine = await ask(at, { ...trusted, ...lax });
    expect([fine.text, fine.notices]).toEqual(["secure", ["tls_verified"]]);
    expect((await ask(at, trusted)).notices).toEqual([]);
  });

  test("a client certificate is shown where one is set, and an unreadable one is named", async () => {
    const both = file("both.pem", `${client?.cert}${client?.key}`);
    const [none, one, missing] = await Promise.all([
      ask(strictAt, trusted),
      ask(strictAt, { ...trusted, PAI_CLIENT_CERT: both }),
      ask(strictAt, { ...trusted, PAI_CLIENT_CERT: file("missing.pem") }),
    ]);
    expect(none.code).not.toBeNull();
    expect([one.text, missing.code]).toEqual(["secure", "config_invalid"]);
    expect(missing.message).toContain("missing.pem");
  });

  test("https goes through a CONNECT proxy with its login; a refused login and an unreachable proxy are named (R48)", async () => {
    const logins: string[] = [];
    const proxy = Bun.listen<{ up: ReturnType<typeof connect> | null }>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          socket.data = { up: null };
        },
        data: (socket, bytes) => {
          const { up } = socket.data;
          if (up !== null) return void up.write(bytes);
          const head = bytes.toString();
          const login = /proxy-authorization: basic (\S+)/i.exec(head)?.[1] ?? "";
          logins.push(`${head.split(" ", 2).join(" ")} ${atob(login)}`);
          if (atob(login) !== "me:pass") return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
          const made = connect(plain.port ?? 0, "127.0.0.1");
          socket.data.up = made;
          made.on("data", (more) => socket.write(more));
          made.on("error", () => socket.end());
          made.on("connect", () => socket.write("HTTP/1.1 200 Connection Established\r\n\r\n"));
        },
        close: (socket) => {
          socket.data.up?.destroy();
        },
      },
    });
    const through = (login: string) => ({ ...trusted, HTTPS_PROXY: `http://${login}127.0.0.1:${proxy.port}` });
    const [good, bad, dead, socks] = await Promise.all([
      ask(`https://${host}/v1`, through("me:pass@")),
      ask(`https://${host}/v1`, through("me:wrong@")),
      ask(`https://${host}/v1`, { ...trusted, HTTPS_PROXY: "http://me:secret@127.0.0.1:9" }),
      ask(`https://${host}/v1`, { ALL_PROXY: "socks5://127.0.0.1:9" }),
    ]);
    proxy.stop(true);
    expect(good).toMatchObject({ text: "secure", code: null });
    expect(logins).toContain(`CONNECT ${host}:443 me:pass`);
    expect(bad.code).toBe("network");
    expect(dead.message).toContain("through the proxy http://127.0.0.1:9");
    expect(dead.message).not.toContain("secret");
    expect(socks.code).toBe("config_invalid");
    expect(socks.message).toContain("socks5");
  });
});
