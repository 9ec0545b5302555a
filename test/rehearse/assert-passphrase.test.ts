import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { assertPassphrase, createCrypter } from "../../cli/rehearse/stack-copy.js";
import { temporaryFolder } from "../cli/temporary-folder.js";

/** Whether a stack whose file has this content is read with these variables, and why not. */
const said = (file: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  writeFileSync(join(folder, "Pulumi.prod.yaml"), file);
  writeFileSync(join(folder, "passphrase"), `${env.TEXT ?? ""}\n`);
  const place = { command: "pulumi", folder, env };
  const stack = { place, env, names: { project: "shop", stack: "prod" } };
  return assertPassphrase(stack).then(() => "", String);
};

test("another passphrase than the stack's is refused, wherever it comes from; none is left to Pulumi", async () => {
  const { passphrase, salt } = await createCrypter();
  const file = `encryptionsalt: ${salt}\nconfig:\n  a: b\n`;
  expect(await said(file, { PULUMI_CONFIG_PASSPHRASE: passphrase })).toBe("");
  expect(await said(file, { PULUMI_CONFIG_PASSPHRASE_FILE: "passphrase", TEXT: passphrase })).toBe(
    "",
  );
  const refusal = "The passphrase is not the one of the stack shop/prod";
  const wrong = [
    { PULUMI_CONFIG_PASSPHRASE: "wrong" },
    { PULUMI_CONFIG_PASSPHRASE: "", PULUMI_CONFIG_PASSPHRASE_FILE: "passphrase", TEXT: passphrase },
    { PULUMI_CONFIG_PASSPHRASE_FILE: "passphrase", TEXT: "wrong" },
  ];
  for (const env of wrong) expect(await said(file, env)).toContain(refusal);
  expect(await said(file, {})).toBe("");
  // Pulumi takes any where the file keeps no salt, as with a key of a cloud.
  expect(await said("config: {}\n", { PULUMI_CONFIG_PASSPHRASE: "wrong" })).toBe("");
});
