/** The models that the lab can ask: judge endpoints of the team, those included that the cluster serves. */
import type { JudgeEndpoint } from "@/api/model";

/** Options of a field that names one, an answer of the platform given. */
export function modelOptions(endpoints: JudgeEndpoint[] = []): { value: string; label: string }[] {
  return endpoints.map(({ slug, name, model, policy }) => ({
    value: slug,
    label: policy ? `${name} (policy ${policy}, on the cluster)` : `${name} (${model})`,
  }));
}
