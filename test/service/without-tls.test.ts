import { expect, onTestFinished, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { startEmulator } from "../../emulator/index.js";
import { authentication } from "../../provider/resources/authentication.js";
import { connectService } from "../../provider/service/connect.js";
import { readSettings } from "../../provider/service/settings.js";

test("an https address of a port that speaks plain HTTP is told as that, and not as a certificate", async () => {
  const emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const environment = {
    ...emulatorEnvironment(emulator),
    CONVERSATION_BASE_URL: emulator.baseUrl.replace("http:", "https:"),
  };
  const service = connectService(readSettings({ environment, config: () => undefined }));
  onTestFinished(() => service.close());
  await expect(service.list(authentication)).rejects.toMatchObject({
    code: "UNREACHABLE",
    message: expect.stringMatching(
      /127\.0\.0\.1:\d+ could not be trusted \(ERR_SSL_\w+\): what answers there speaks no TLS; check the port/,
    ),
  });
});
