// SPDX-License-Identifier: Apache-2.0
// Checks Kubernetes manifests against the published schemas: node check.mjs FILE...
//
// Prints every key that no schema knows, then the other faults of a manifest. A second manifest of
// the same kind and name is a patch for the first; the patched manifest is checked.
import { readFileSync } from "node:fs";
import { DaemonSet } from "kubernetes-models/apps/v1";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { Namespace, Service } from "kubernetes-models/v1";
import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import yaml from "js-yaml";

const kinds = { DaemonSet, Namespace, NetworkPolicy, Service, ServiceMonitor };

// Returns `value` in a proxy that notes which keys are read, and a function for the paths of the
// unread keys. The published schemas are compiled and accept unknown keys, like the Kubernetes
// server in non-strict mode. But a schema reads each key that it knows.
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
}

const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

// Merges like `kubectl patch`: named list items are merged by name, other lists are replaced.
function patched(base, patch) {
  if (isMap(base) && isMap(patch)) {
    const changed = Object.entries(patch).map(([key, value]) => [key, patched(base[key], value)]);
    return { ...base, ...Object.fromEntries(changed) };
  }
  if (!Array.isArray(base) || !Array.isArray(patch) || !patch.every((item) => item?.name)) return patch;
  const named = (list, { name }) => list.find((item) => item.name === name);
  return [
    ...base.map((item) => (named(patch, item) ? patched(item, named(patch, item)) : item)),
    ...patch.filter((item) => !named(base, item)),
  ];
}

const known = new Map();
for (const file of process.argv.slice(2)) {
  for (const manifest of yaml.loadAll(readFileSync(file, "utf8"))) {
    const name = `${manifest.kind} ${manifest.metadata.name}`;
    const isPatch = known.has(name);
    known.set(name, isPatch ? patched(known.get(name), manifest) : manifest);
    check(file, known.get(name));
    console.log(isPatch ? `${name}, patched` : name);
  }
}
