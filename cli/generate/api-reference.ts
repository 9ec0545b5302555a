import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Application,
  Comment,
  type Context,
  Converter,
  type DeclarationReflection,
  IntrinsicType,
  LogLevel,
  ReferenceType,
  ReflectionKind,
  ReflectionType,
} from "typedoc";
import ts from "typescript";

/** What a program can import, by page: the source of the entry point, and what it is for. */
export const entryPoints: Readonly<Record<string, readonly [source: string, purpose: string]>> = {
  index: [
    "sdk/index.ts",
    "What Pulumi programs import. [Resources](../resources.md) lists limits and sources for every field. The outputs of a resource are its arguments, with their values in the service.",
  ],
  runtime: ["sdk/runtime/index.ts", "The client for a deployed account."],
  pkce: ["sdk/runtime/pkce.ts", "Customer sign-in, including in browsers."],
  emulator: ["emulator/index.ts", "An emulator of the service on this machine."],
  testing: ["sdk/testing/index.ts", "Tests for programs and conversations."],
  policies: ["sdk/policies/index.ts", "Rules for stacks."],
};

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts"],
  module: ts.ModuleKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  types: ["node"],
};

const options = {
  plugin: ["typedoc-plugin-markdown"],
  router: "module",
  readme: "none",
  logLevel: LogLevel.Error,
  skipErrorChecking: true,
  disableGit: true,
  disableSources: true,
  excludeExternals: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeReferences: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hideGroupHeadings: true,
  useCodeBlocks: true,
  expandObjects: true,
  expandParameters: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
  typeDeclarationVisibility: "compact",
  tableColumnSettings: {
    hideDefaults: true,
    hideModifiers: true,
    hideInherited: true,
    hideOverrides: true,
  },
  pageTitleTemplates: { module: "`pulumi-conversation/{name}`" },
};

/**
 * A type that is derived from a value is written out, and a value with many members is an object:
 * its comment says where its members are explained.
 */
const spellType = (context: Context, declaration: DeclarationReflection): void => {
  if (declaration.kind === ReflectionKind.Variable && declaration.type instanceof ReflectionType)
    declaration.type = new IntrinsicType("object");
  const symbol = context.getSymbolFromReflection(declaration);
  if (declaration.kind !== ReflectionKind.TypeAlias || !symbol) return;
  if (!symbol.declarations?.[0]?.getText().includes("typeof ")) return;
  const type = context.converter.convertType(
    context,
    context.checker.getDeclaredTypeOfSymbol(symbol),
  );
  const isItself = type instanceof ReferenceType && type.name === declaration.name;
  if (!isItself) declaration.type = type;
};

/** The outputs of a resource, and of its parts, are arguments with the values of the service. */
const leaveOutOutputs = ({ project }: Context): void => {
  for (const property of project.getReflectionsByKind(ReflectionKind.Property)) {
    const args = property.parent?.parent?.getChildByName([`${property.parent.name}Args`]);
    if (args?.getChildByName([property.name])) project.removeReflection(property);
  }
};

/** What the pages of TypeDoc say beside the block of code that shows a shape, by pattern. */
const repetitions: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/<a id="[^"]*"><\/a> /g, ""],
  [/^(# `pulumi-conversation)\/index/gm, "$1"],
  [/^\*\*\*\n\n/gm, ""],
  [/^#+ (?:Extends|Implements|Overrides|Inherited from|Type Parameters)\n\n(?:.+\n)+\n/gm, ""],
  [/^#+ Returns\n\n(?:.+\n)+\n(?=[#|]|$)/gm, ""],
  [/^#+ Parameters\n\n\| Parameter \| Type \|\n(?:.+\n)+\n?/gm, ""],
  [/^#+ (?:Properties|Methods|Constructors|Parameters|Constructor)\n\n/gm, ""],
  [/^#+ (Throws|Example|Returns)$/gm, "$1:"],
  [/ Source: vendor's description of the interface\./g, ""],
  [/(?<! ) +$/gm, ""],
];

/**
 * A page for every entry point, by its path.
 *
 * @param root folder of the package, whose sources are read
 */
export const apiReference = async (root: string): Promise<Readonly<Record<string, string>>> => {
  const sources = Object.values(entryPoints).map(([source]) => join(root, source));
  const app = await Application.bootstrapWithPlugins({ ...options, entryPoints: sources });
  app.options.setCompilerOptions(sources, compilerOptions, undefined);
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, spellType);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, leaveOutOutputs);
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc cannot read the entry points");
  for (const [name, [source, purpose]] of Object.entries(entryPoints)) {
    const page = project.children?.find(
      (each) => source.replace(/(\/index)?\.ts$/, "") === each.name,
    );
    if (!page) throw new Error(`TypeDoc has not read ${source}`);
    page.name = name;
    page.comment = new Comment([{ kind: "text", text: purpose }]);
  }
  const folder = mkdtempSync(join(tmpdir(), "conversation-reference-"));
  try {
    await app.outputs.writeOutput({ name: "markdown", path: folder }, project);
    return Object.fromEntries(
      Object.keys(entryPoints).map((name) => {
        const page = readFileSync(join(folder, `${name}.md`), "utf8");
        const shorter = repetitions.reduce((text, of) => text.replaceAll(...of), page);
        return [`docs/api/${name}.md`, shorter];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
