/** The first choice of a new run: what the policy learns from. */
import { Paper, Radio, Text } from "@mantine/core";
import { type Objective, OBJECTIVES } from "@/entities/runs/objective";
import classes from "./create.module.css";

interface Props {
  value: Objective;
  /** A fork has the objective of its run. */
  fixed: boolean;
  onChange: (objective: Objective) => void;
}

export function ObjectiveChoice({ value, fixed, onChange }: Props) {
  return (
    <Radio.Group
      label="What should the policy learn from?"
      description={fixed ? "A fork keeps the objective of its run." : undefined}
      value={value}
      onChange={next => onChange(next as Objective)}
      mb="md"
      data-testid="objective"
    >
      <div className={classes.objectives}>
        {OBJECTIVES.map(({ type, title, method, hint }) => (
          <Paper key={type} className={classes.objective} data-chosen={type === value || undefined}>
            <Radio
              value={type}
              disabled={fixed}
              label={
                <>
                  {title}{" "}
                  <Text span size="xs" c="dimmed">
                    {method}
                  </Text>
                </>
              }
              description={hint}
              styles={{ body: { alignItems: "flex-start" } }}
            />
          </Paper>
        ))}
      </div>
    </Radio.Group>
  );
}
