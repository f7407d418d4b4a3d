/** Each part of a reward: its grade, its weight, what it adds, and the grader's own reason. */
import { Text } from "@mantine/core";
import { DASH, formatNumber } from "@/lib/format";
import type { Part } from "./parts";
import classes from "./parts.module.css";

interface Props {
  /** Whose parts they are, for those who do not see the page. */
  label: string;
  parts: Part[];
  /** Whether reasons were kept. */
  told: boolean;
}

export function RewardParts({ label, parts, told }: Props) {
  if (parts.length === 0 && told) return null;
  return (
    <div data-testid="reward-parts">
      {parts.length > 0 && (
        <ul className={classes.parts} aria-label={label}>
          {parts.map(part => (
            <li key={part.name} data-part={part.name}>
              <div className={classes.head}>
                <span className="mono">{part.name}</span>
                <span className="num">
                  {part.grade === null ? "no grade" : formatNumber(part.grade, 3)}
                  {part.weight !== null && part.grade !== null && (
                    <>
                      {" "}
                      × {formatNumber(part.weight, 3)} ={" "}
                      <b>{part.adds === null ? DASH : `${part.adds > 0 ? "+" : ""}${formatNumber(part.adds, 3)}`}</b>
                    </>
                  )}
                </span>
              </div>
              {part.reason !== null && <div className={classes.reason}>{part.reason}</div>}
            </li>
          ))}
        </ul>
      )}
      {!told && (
        <Text size="xs" c="dimmed" mt={4}>
          No reasons: this rollout was scored before graders reported them.
        </Text>
      )}
    </div>
  );
}
