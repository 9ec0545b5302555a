// Writes a Markdown file into one comment of the pull or merge request, and overwrites it the next time. The first line
// of the file marks the comment. Only comments of the token's own user count: other users can write the same line, and
// could edit the report in their own comment before someone approves the change.
//
//   node ci/comment.mjs FILE
//
// Needs GH_TOKEN and NUMBER (of the pull request) on GitHub, or GITLAB_TOKEN on GitLab, and the variables of the runner.
import { readFileSync } from "node:fs";

const { env } = process;
const body = readFileSync(process.argv[2], "utf8");
const firstLine = (text) => text.split(/\r?\n/, 1)[0];

const call = async (method, address, headers, content) => {
  const response = await fetch(address, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: content && JSON.stringify(content),
    redirect: "error",
    signal: AbortSignal.timeout(60_000),
  });
  if (!response.ok) throw new Error(`${method} ${new URL(address).pathname}: ${response.status}`);
  return response.json();
};

const commentsQuery = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    id comments(first: 100, after: $after) {
      nodes { id body viewerDidAuthor } pageInfo { hasNextPage endCursor }
    } } }
}`;
const update = `mutation ($id: ID!, $body: String!) {
  updateIssueComment(input: { id: $id, body: $body }) { clientMutationId }
}`;
const add = `mutation ($id: ID!, $body: String!) {
  addComment(input: { subjectId: $id, body: $body }) { clientMutationId }
}`;

const onGitHub = async () => {
  const ask = async (query, variables) => {
    const headers = { authorization: `Bearer ${env.GH_TOKEN}` };
    const { data, errors } = await call("POST", env.GITHUB_GRAPHQL_URL, headers, {
      query,
      variables,
    });
    if (errors) throw new Error(errors.map(({ message }) => message).join("; "));
    return data;
  };
  const [owner, name] = env.GITHUB_REPOSITORY.split("/");
  for (let after = null; ; ) {
    const { repository } = await ask(commentsQuery, {
      owner,
      name,
      number: Number(env.NUMBER),
      after,
    });
    const { id, comments } = repository.pullRequest;
    const own = comments.nodes.find(
      (comment) => comment.viewerDidAuthor && firstLine(comment.body) === firstLine(body),
    );
    if (own) return ask(update, { id: own.id, body });
    if (!comments.pageInfo.hasNextPage) return ask(add, { id, body });
    after = comments.pageInfo.endCursor;
  }
};

const onGitLab = async () => {
  const headers = { "private-token": env.GITLAB_TOKEN };
  const request = `projects/${env.CI_PROJECT_ID}/merge_requests/${env.CI_MERGE_REQUEST_IID}`;
  const notes = `${env.CI_API_V4_URL}/${request}/notes`;
  const user = await call("GET", `${env.CI_API_V4_URL}/user`, headers);
  for (let page = 1; ; page++) {
    const found = await call("GET", `${notes}?sort=asc&per_page=100&page=${page}`, headers);
    const own = found.find(
      (note) => note.author.id === user.id && firstLine(note.body) === firstLine(body),
    );
    if (own) return call("PUT", `${notes}/${own.id}`, headers, { body });
    if (found.length < 100) return call("POST", notes, headers, { body });
  }
};

try {
  if (!/^<!-- .+ -->$/.test(firstLine(body))) throw new Error("its first line is not a marker");
  await (env.CI_API_V4_URL ? onGitLab() : onGitHub());
} catch (error) {
  console.error(`Cannot write ${process.argv[2]} into a comment: ${error.message}`);
  process.exitCode = 1;
}
