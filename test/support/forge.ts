import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { closeServer, listenHere } from "./loopback-server.js";

/** A comment on the pull or merge request of a forge. */
interface ForgeComment {
  readonly id: number;
  readonly author: string;
  body: string;
}

/** A forge on this machine with one request, which answers as GitHub's GraphQL and GitLab's REST do. */
export interface Forge {
  /** In the order in which they were written. */
  readonly comments: ForgeComment[];
  /** What the runners of both set. */
  readonly env: Readonly<Record<string, string>>;
  /** Command lines of this machine that held the token while a call was being answered. */
  readonly exposed: string[];
  readonly close: () => Promise<void>;
}

const forgeUser = "the-pipeline";

const token = "forge-token-4f1c7e92";

const commandLines = (): readonly string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        return [readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ")];
      } catch {
        return [];
      }
    });

const bodyOf = async (request: IncomingMessage): Promise<JsonObject> => {
  const text = (await request.toArray()).join("");
  if (text === "") return {};
  const isForm = request.headers["content-type"]?.includes("form");
  const body: unknown = isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);
  return isObject(body) ? body : {};
};

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export const startForge = async (): Promise<Forge> => {
  const comments: ForgeComment[] = [];
  const exposed: string[] = [];
  const add = (body: unknown): ForgeComment => {
    const comment = { id: comments.length + 1, author: forgeUser, body: String(body) };
    comments.push(comment);
    return comment;
  };
  const change = (id: number, body: unknown): Answer => {
    const comment = comments.find((each) => each.id === id);
    if (!comment) return { status: 404, body: {} };
    comment.body = String(body);
    return { status: 200, body: comment };
  };

  const gitHub = ({ query, variables }: JsonObject): Answer => {
    const given = isObject(variables) ? variables : {};
    const text = String(query);
    if (text.includes("updateIssueComment"))
      return change(Number(String(given.id).slice(2)), given.body);
    if (text.includes("addComment")) return { status: 200, body: { data: add(given.body) } };
    const from = Number(given.after ?? 0);
    const nodes = comments.slice(from, from + 100).map(({ id, author, body }) => ({
      id: `c_${id}`,
      body,
      viewerDidAuthor: author === forgeUser,
    }));
    const pageInfo = { hasNextPage: comments.length > from + 100, endCursor: String(from + 100) };
    const pullRequest = { id: "pr_7", comments: { nodes, pageInfo } };
    const isThis = given.owner === "acme" && given.name === "shop" && given.number === 7;
    return {
      status: 200,
      body: { data: { repository: { pullRequest: isThis ? pullRequest : null } } },
    };
  };

  const gitLab = (method: string, url: URL, body: JsonObject): Answer => {
    if (url.pathname === "/api/v4/user") return { status: 200, body: { id: forgeUser } };
    const [, id] =
      /^\/api\/v4\/projects\/3\/merge_requests\/7\/notes(?:\/(\d+))?$/.exec(url.pathname) ?? [];
    if (method === "PUT") return change(Number(id), body.body);
    if (method === "POST") return { status: 201, body: add(body.body) };
    const size = Number(url.searchParams.get("per_page") ?? 20);
    const from = (Number(url.searchParams.get("page") ?? 1) - 1) * size;
    const notes = comments.map((note) => ({ ...note, author: { id: note.author } }));
    return { status: 200, body: notes.slice(from, from + size) };
  };

  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    const body = await bodyOf(request);
    exposed.push(...commandLines().filter((line) => line.includes(token)));
    const isGitHub = url === "/graphql";
    const isKnown = isGitHub
      ? headers.authorization === `Bearer ${token}`
      : headers["private-token"] === token;
    const refused = { status: 401, body: {} };
    const address = new URL(url, "http://forge");
    const answer = isKnown ? (isGitHub ? gitHub(body) : gitLab(method, address, body)) : refused;
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(JSON.stringify(answer.body));
  });
  const origin = await listenHere(server);
  return {
    comments,
    exposed,
    env: {
      GH_TOKEN: token,
      GITHUB_GRAPHQL_URL: `${origin}/graphql`,
      GITHUB_REPOSITORY: "acme/shop",
      NUMBER: "7",
      GITLAB_TOKEN: token,
      CI_PROJECT_ID: "3",
      CI_MERGE_REQUEST_IID: "7",
      CI_API_V4_URL: `${origin}/api/v4`,
    },
    close: () => closeServer(server),
  };
};
