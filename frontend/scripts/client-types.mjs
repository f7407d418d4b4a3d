/**
 * What the console's typed client makes of the OpenAPI document, before orval reads it.
 *
 * Run specs and reward definitions are drawn, edited and read by their JSON Schema, and a form holds documents that are
 * not valid yet. In the console they are therefore JSON documents of one type, `Spec`; the OpenAPI document keeps their
 * exact components for other clients.
 */
const DOCUMENTS = ["RunSpec", "RunSpecRequest", "RewardDefinition", "RewardDefinitionRequest"];
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
  return { ...linked, components: { ...linked.components, schemas: reachable(linked) } };
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
    const name = typeof node.$ref === "string" ? node.$ref.slice(reference("").length) : null;
    if (name !== null && !found.has(name)) {
      found.add(name);
      walk(components.schemas[name]);
    }
    Object.values(node).forEach(walk);
  };
  walk(paths);
  return Object.fromEntries(Object.entries(components.schemas).filter(([name]) => found.has(name)));
}
