import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../provider/kernel/package.js";

/** A checkout that quick starts may write in. */
export interface Checkout {
  readonly root: string;
  remove(): void;
}

/** Copies what a quick start reads of this checkout; what was built is shared. */
export const checkout = (): Checkout => {
  const [from, root] = [packageRoot(), mkdtempSync(join(tmpdir(), "conversation-checkout-"))];
  for (const file of ["Pulumi.yaml", "package.json", "tsconfig.base.json"])
    copyFileSync(join(from, file), join(root, file));
  cpSync(join(from, "examples"), join(root, "examples"), { recursive: true });
  for (const folder of ["dist", "node_modules"])
    symlinkSync(join(from, folder), join(root, folder));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
};
