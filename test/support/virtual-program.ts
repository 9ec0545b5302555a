import { dirname, join } from "node:path";
import ts from "typescript";

const root = join(__dirname, "..", "..");

const entryPoints: Readonly<Record<string, string[]>> = {
  "pulumi-conversation": ["./sdk/index.ts"],
  "pulumi-conversation/runtime": ["./sdk/runtime/index.ts"],
  "pulumi-conversation/pkce": ["./sdk/runtime/pkce.ts"],
  "pulumi-conversation/emulator": ["./emulator/index.ts"],
  "pulumi-conversation/policies": ["./sdk/policies/index.ts"],
  "pulumi-conversation/testing": ["./sdk/testing/index.ts"],
};

const options = (): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  const lax = {
    composite: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowImportingTsExtensions: true,
  };
  return { ...parsed.options, ...lax, noEmit: true, paths: entryPoints };
};

/**
 * A TypeScript program with files that exist only in memory, beside those of the disk. The package's
 * entry points are its sources.
 *
 * @param files texts by absolute path
 * @param roots further files that belong to it
 */
export const virtualProgram = (
  files: ReadonlyMap<string, string>,
  roots: readonly string[] = [],
): ts.Program => {
  const host = ts.createCompilerHost(options());
  const { readFile, fileExists, getSourceFile, directoryExists = () => true } = host;
  const folders = new Set([...files.keys()].map((file) => dirname(file)));
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.directoryExists = (folder) => folders.has(folder) || directoryExists(folder);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, ...rest) => {
    const text = files.get(file);
    return text === undefined
      ? getSourceFile(file, ...rest)
      : ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  };
  return ts.createProgram([...roots, ...files.keys()], options(), host);
};
