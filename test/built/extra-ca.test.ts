import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TunnelProxy } from "../security/support/tunnel-proxy.js";
import { portOf } from "../support/loopback-server.js";

const dist = join(__dirname, "..", "..", "dist", "provider");
const folder = mkdtempSync(join(tmpdir(), "extra-ca-"));
const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];

/** A certificate of an authority that nobody knows, for two names that do not resolve. */
const made = spawnSync("openssl", [
  ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
  ...["-days", "2", "-subj", "/CN=Own authority", "-keyout", key, "-out", certificate],
  ...["-addext", "subjectAltName=DNS:hub.example.com,DNS:login.example.com"],
]);

/** Lists the channels in a process of its own, as extra authorities are read when one starts. */
const program = `
const { connectService } = require(${JSON.stringify(join(dist, "service", "connect.js"))});
const { readSettings } = require(${JSON.stringify(join(dist, "service", "settings.js"))});
const { channel } = require(${JSON.stringify(join(dist, "resources", "channel.js"))});
const { waitOutRefusals } = require(${JSON.stringify(join(dist, "pacing", "pacer.js"))});
const settings = readSettings({ environment: process.env, config: () => undefined });
const service = connectService(settings, { pace: waitOutRefusals() });
service.list(channel)
  .then(({ objects }) => console.log([...objects.keys()].join()), (error) => console.log(error.message))
  .finally(() => service.close());
`;

const run = (environment: Readonly<Record<string, string>>): Promise<string> =>
  new Promise((resolve, reject) => {
    const env = {
      PATH: process.env.PATH ?? "",
      CONVERSATION_BASE_URL: "https://hub.example.com/conversation/v3",
      CONVERSATION_TOKEN_URL: "https://login.example.com/token",
      CONVERSATION_CLIENT_ID: "client",
      CONVERSATION_CLIENT_SECRET: "canary-client-secret",
      ...environment,
    };
    execFile(process.execPath, ["-e", program], { env }, (error, stdout, stderr) =>
      error ? reject(error) : resolve(stdout + stderr),
    );
  });

describe.skipIf(made.status !== 0)(
  "a service whose certificate comes from the user's own authority",
  () => {
    const calls: string[] = [];
    let proxy: TunnelProxy;
    const startServer = () =>
      createServer(
        { key: readFileSync(key), cert: readFileSync(certificate) },
        (request, response) => {
          calls.push(`${request.headers.host} ${request.method} ${request.url}`);
          const isToken = request.url === "/token";
          const body = isToken
            ? { access_token: "canary-token", expires_in: 3600 }
            : { channel: [{ id: "c1", type: "custom.kiosk" }] };
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
        },
      );
    let server: ReturnType<typeof startServer>;

    beforeAll(async () => {
      server = startServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      proxy = await TunnelProxy.open(portOf(server));
    });
    afterAll(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await proxy[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    });

    test("is trusted through NODE_EXTRA_CA_CERTS, also behind a proxy", async () => {
      const reported = await run({
        HTTPS_PROXY: `http://${proxy.address}`,
        NODE_EXTRA_CA_CERTS: certificate,
      });
      expect(reported).toBe("c1\n");
      expect(new Set(proxy.asked)).toEqual(
        new Set(["login.example.com:443", "hub.example.com:443"]),
      );
      expect(calls).toEqual([
        "login.example.com POST /token",
        "hub.example.com GET /conversation/v3/channels",
      ]);
      expect(JSON.stringify(proxy.headers)).not.toContain("canary");
    });

    test("is refused without it, with the way to trust it; nothing is sent", async () => {
      calls.length = 0;
      const reported = await run({ HTTPS_PROXY: `http://${proxy.address}` });
      expect(reported).toMatch(/could not be trusted \(\w+\).*NODE_EXTRA_CA_CERTS/);
      expect(reported).not.toContain("canary");
      expect(calls).toEqual([]);
    });
  },
);
