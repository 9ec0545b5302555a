import { createHmac, randomBytes } from "node:crypto";
import { type Ask, type Json, type Reply, refuse, strictServer } from "./strict-http.js";

interface Asset {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  content?: Buffer;
  used?: true;
}

/** Content types follow from the extension (contract §11). */
const contentTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  pdf: "application/pdf",
  txt: "text/plain",
};

const key = randomBytes(32);

const signature = (text: string): string => createHmac("sha256", key).update(text).digest("hex");

const lifetimeMs = 300_000;

/** Assets (contract §11). Their contents are on a server of their own, below signed addresses. */
export const strictContent = async (channelType: string) => {
  const assets = new Map<string, Asset>();

  const signed = (origin: string, method: string, id: string): Json => {
    const until = Date.now() + lifetimeMs;
    const path = `/vault/${id}/${until}`;
    return {
      contentUrl: `${origin}${path}?X-Sig=${signature(`${method} ${path}`)}`,
      contentUrlExpiry: new Date(until).toISOString(),
    };
  };

  const take = (asset: Asset, { headers, body }: Ask): Reply => {
    if (headers["content-type"] !== asset.contentType) return { status: 415 };
    if (body.length !== asset.size) return { status: 400 };
    asset.content = body;
    return { status: 201 };
  };

  const vault = await strictServer((ask): Reply => {
    const { method, url } = ask;
    const [, , id = "", until] = url.pathname.split("/");
    const asset = assets.get(id);
    const good = url.searchParams.get("X-Sig") === signature(`${method} ${url.pathname}`);
    if (!good || !asset || Number(until) < Date.now()) return { status: 403 };
    if (ask.headers.authorization !== undefined) return { status: 400 };
    if (method === "POST") return take(asset, ask);
    if (!asset.content) return { status: 404 };
    return { status: 200, headers: { "content-type": asset.contentType }, bytes: asset.content };
  });

  const create = (body: Json): Reply => {
    const { channel, sender, name, size, ...rest } = body;
    const file = typeof name === "string" ? name : "";
    const contentType = contentTypes[file.split(".").at(-1) ?? ""];
    const bytes = typeof size === "number" && Number.isInteger(size) ? size : 0;
    const good =
      (channel as Json | undefined)?.type === channelType &&
      typeof (sender as Json | undefined)?.type === "string" &&
      bytes >= 1 &&
      bytes <= 10_485_760 &&
      Object.keys(rest).length === 0;
    if (!good || !contentType) return refuse(400, 143, "A required attribute is missing.");
    const id = String(1001 + assets.size);
    assets.set(id, { id, name: file, size: bytes, contentType });
    return { status: 200, json: { id, ...signed(vault.origin, "POST", id) } };
  };

  const item = (method: string, id: string): Reply => {
    const asset = assets.get(id);
    if (!asset) return refuse(404, 101, "No such asset.");
    if (method === "DELETE") {
      if (asset.used) return refuse(403, 112, "The asset is in use.");
      assets.delete(id);
      return { status: 204 };
    }
    const { name, size, contentType } = asset;
    return {
      status: 200,
      json: { id, name, size, contentType, ...signed(vault.origin, "GET", id) },
    };
  };

  return {
    create,
    item,
    close: vault.close,
    /** Marks what a message carries as used; false where there is no such asset. */
    use: (id: unknown): boolean => {
      const asset = assets.get(String(id));
      if (asset) asset.used = true;
      return asset?.content !== undefined;
    },
  };
};

export type StrictContent = Awaited<ReturnType<typeof strictContent>>;
