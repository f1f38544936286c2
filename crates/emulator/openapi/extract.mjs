// Takes what Baton uses out of GitHub's published description of its API:
//
//     npm install @octokit/openapi
//     node extract.mjs node_modules/@octokit/openapi > issues.json
//
// Words for people and examples are left out; nothing else is changed.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const whole = JSON.parse(readFileSync(join(folder, "generated/api.github.com.json"), "utf8"));
const licence = readFileSync(join(folder, "LICENSE"), "utf8").trim();
const used = [
  ["/repos/{owner}/{repo}/issues", ["get", "post"]],
  ["/repos/{owner}/{repo}/issues/comments", ["get"]],
  ["/repos/{owner}/{repo}/issues/{issue_number}", ["get", "patch"]],
  ["/repos/{owner}/{repo}/issues/{issue_number}/comments", ["get", "post"]],
  ["/repos/{owner}/{repo}/installation", ["get"]],
  ["/app/installations/{installation_id}/access_tokens", ["post"]],
];
const wordy = new Set(["description", "example", "examples", "externalDocs", "summary", "tags", "operationId", "deprecated"]);
const parts = {};

/** A copy without words. Below `properties` the keys are names, not keywords. */
function bare(node, names) {
  if (Array.isArray(node)) return node.map((one) => bare(one, false));
  if (node === null || typeof node !== "object") return node;
  const copy = {};
  for (const [key, value] of Object.entries(node)) {
    if (!names && (wordy.has(key) || key.startsWith("x-"))) continue;
    copy[key] = bare(value, !names && key === "properties");
  }
  if (!names && typeof node.$ref === "string") take(node.$ref);
  return copy;
}

/** A part that something refers to, and what it refers to itself. */
function take(ref) {
  const [kind, name] = ref.slice("#/components/".length).split("/");
  parts[kind] ??= {};
  if (name in parts[kind]) return;
  parts[kind][name] = {};
  parts[kind][name] = bare(whole.components[kind][name], false);
}

const paths = {};
for (const [path, methods] of used) {
  paths[path] = {};
  for (const method of methods) {
    const { parameters, requestBody, responses } = whole.paths[path][method];
    paths[path][method] = bare({ parameters, requestBody, responses }, false);
  }
}
const sorted = (map) => Object.fromEntries(Object.keys(map).sort().map((key) => [key, map[key]]));
const components = sorted(Object.fromEntries(Object.entries(parts).map(([kind, map]) => [kind, sorted(map)])));
const info = {
  title: "GitHub's description of its REST API, in part",
  version: `@octokit/openapi ${whole.info.version}`,
  source: "https://github.com/octokit/openapi, made of https://github.com/github/rest-api-description",
  license: licence,
};
process.stdout.write(JSON.stringify({ openapi: whole.openapi, info, paths, components }, null, 1) + "\n");
