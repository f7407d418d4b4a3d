/**
 * What the console's typed client makes of the OpenAPI document, before orval reads it.
 *
 * Run specs and reward definitions are drawn, edited and read by their JSON Schema, and a form holds documents that are
 * not valid yet. In the console they are therefore JSON documents of one type, `Spec`; the OpenAPI document keeps their
 * exact components for other clients.
 */
const DOCUMENTS = ["RunSpec", "RewardDefinition"];
const reference = name => `#/components/schemas/${name}`;
const SPEC = {
  type: "object",
  description: "A run spec or a reward definition: its JSON Schema says what is in it.",
  additionalProperties: { $ref: reference("Json") },
};

export default function clientTypes(document) {
  const { Spec, ...schemas } = document.components.schemas;
  if (Spec) throw new Error("The OpenAPI document has a component Spec of its own: give the console's another name.");
  const missing = DOCUMENTS.filter(name => !schemas[name]);
  if (missing.length)
    throw new Error(`The OpenAPI document has no ${missing.join(", ")}: mend scripts/client-types.mjs.`);
  const linked = replaceReferences({ ...document, components: { ...document.components, schemas } });
  linked.components.schemas.Spec = SPEC;
  return { ...linked, components: reachable(linked) };
}

/** The same document with references to `Spec` where it refers to one of `DOCUMENTS`. */
function replaceReferences(node) {
  if (Array.isArray(node)) return node.map(replaceReferences);
  if (node === null || typeof node !== "object") return node;
  const entries = Object.entries(node).map(([name, value]) => [
    name,
    name === "$ref" && DOCUMENTS.some(one => value === reference(one)) ? reference("Spec") : replaceReferences(value),
  ]);
  return Object.fromEntries(entries);
}

/** The components that some operation refers to, directly or through others. */
function reachable({ paths, components }) {
  const found = new Set();
  const walk = node => {
    if (node === null || typeof node !== "object") return;
    if (typeof node.$ref === "string" && !found.has(node.$ref)) {
      found.add(node.$ref);
      const [kind, name] = node.$ref.split("/").slice(2);
      walk(components[kind][name]);
    }
    Object.values(node).forEach(walk);
  };
  walk(paths);
  const named = (kind, all) => Object.entries(all).filter(([name]) => found.has(`#/components/${kind}/${name}`));
  return Object.fromEntries(
    Object.entries(components).map(([kind, all]) => [kind, Object.fromEntries(named(kind, all))]),
  );
}
