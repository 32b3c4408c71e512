// SPDX-License-Identifier: Apache-2.0
// Checks Kubernetes manifests against the published schemas: node check.mjs FILE...
// Says every key that no schema knows, then what else is wrong with a manifest.
import { readFileSync } from "node:fs";
import { DaemonSet } from "kubernetes-models/apps/v1";
import { Namespace, Service } from "kubernetes-models/v1";
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import yaml from "js-yaml";

const kinds = { DaemonSet, Namespace, Service, ServiceMonitor };

// The published schemas are compiled, and take keys that they do not know, as the server of Kubernetes
// does when nobody asks it to be strict. But a schema looks at each key that it knows: so `value`, that
// notes what is looked at, and the paths of all else.
function watched(value, path = "") {
  if (value === null || typeof value !== "object") return { value, unread: () => [] };
  const inner = new Map(Object.keys(value).map((key) => [key, watched(value[key], `${path}/${key}`)]));
  const read = new Set();
  const proxy = new Proxy(value, {
    get(target, key, receiver) {
      read.add(key);
      return inner.has(key) ? inner.get(key).value : Reflect.get(target, key, receiver);
    },
  });
  const unread = () =>
    [...inner].flatMap(([key, part]) => (read.has(key) ? part.unread() : [`${path}/${key}`]));
  return { value: proxy, unread };
}

function check(file, manifest) {
  const Kind = kinds[manifest.kind];
  if (!Kind) throw new Error(`${file}: no schema for the kind ${manifest.kind}`);
  const { apiVersion } = new Kind({});
  if (manifest.apiVersion !== apiVersion) {
    throw new Error(`${file}: ${manifest.kind} is of ${apiVersion}`);
  }
  const seen = watched(manifest);
  try {
    Kind.prototype.validate.call(seen.value);
  } catch (error) {
    throw new Error(`${file}: ${manifest.kind}: ${error.message}`);
  }
  const unknown = seen.unread();
  if (unknown.length) throw new Error(`${file}: ${manifest.kind} has no ${unknown.join(", ")}`);
  console.log(`${manifest.kind} ${manifest.metadata.name}`);
}

for (const file of process.argv.slice(2)) {
  for (const manifest of yaml.loadAll(readFileSync(file, "utf8"))) check(file, manifest);
}
