import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEmulator } from "../../emulator/index.js";
import { run } from "../cli/session.js";

const root = join(__dirname, "..", "..");
const textIn = (file: string): string => readFileSync(join(root, file), "utf8");
const dockerfile = textIn("Dockerfile");
const listAfter = (word: string): readonly string[] =>
  JSON.parse(new RegExp(`^${word} .*?(\\[.*\\])$`, "m").exec(dockerfile)?.[1] ?? "[]");

test("the image runs the package's own command, with options that there are", async () => {
  const { bin, engines } = JSON.parse(textIn("package.json"));
  const [node, main, ...args] = listAfter("ENTRYPOINT");
  expect([node, main]).toEqual([
    "node",
    `node_modules/pulumi-conversation/${bin["pulumi-conversation"]}`,
  ]);
  expect(await run(...args, "--help")).toMatchObject({ code: 0 });
  const [, most = "0"] = /^FROM node:(\d+)-alpine$/m.exec(dockerfile) ?? [];
  expect(Number(most)).toBeGreaterThanOrEqual(Number.parseInt(engines.node.replace(/\D*/, ""), 10));
});

test("the image's check sees an emulator that is ready, and one that is not there", async () => {
  const [command = "", ...args] = listAfter("HEALTHCHECK");
  const check = (port: string) => {
    const own = args.map((arg) => arg.replaceAll("127.0.0.1:4010", `127.0.0.1:${port}`));
    const child = spawn(command, own, { stdio: "ignore" });
    return new Promise((resolve) => child.once("exit", resolve));
  };
  await using plain = await startEmulator();
  const portOf = ({ baseUrl }: typeof plain) => new URL(baseUrl).port;
  expect(await check(portOf(plain))).toBe(0);
  await plain.close();
  expect(await check(portOf(plain))).toBe(1);
});
