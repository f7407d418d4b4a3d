import type { Json, Spec } from "@/api/model";
import { getIn } from "@/features/schema-form/pointer";
import { formatNumber } from "@/lib/format";

/** "1 × correct (numeric) + 0.1 × format (format)" */
export function describeDefinition(definition: Spec): string {
  const components = getIn(definition, ["components"]);
  if (!Array.isArray(components)) return "";
  return components
    .map(
      (one: Json) =>
        `${formatNumber(Number(getIn(one, ["weight"])))} × ${getIn(one, ["name"])} (${getIn(one, ["grader", "type"])})`,
    )
    .join(" + ");
}
