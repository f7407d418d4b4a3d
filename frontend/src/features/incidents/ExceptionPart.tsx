/** The exception of a failed run: the user's own frames shown, the others folded. */
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Exception, Run } from "@/api/model";
import { rewardsQuery } from "@/entities/rewards/queries";
import { TextLink } from "@/ui/TextLink";
import classes from "./incidents.module.css";

type Frame = Exception["frames"][number];

export function ExceptionPart({ run, exception }: { run: Run; exception: Exception }) {
  const own = exception.frames.filter(frame => frame.owner === "yours");
  const others = exception.frames.filter(frame => frame.owner !== "yours");
  const place = [
    `attempt ${exception.attempt}`,
    exception.cluster && `cluster ${exception.cluster}`,
    exception.node && `node ${exception.node}`,
    exception.pid !== null && `process ${exception.pid}`,
  ].filter(Boolean);
  return (
    <div className={classes.exception} data-testid="exception">
      <Text size="sm" className="mono" style={{ overflowWrap: "anywhere" }}>
        {exception.error}
      </Text>
      <Frames frames={own} />
      {others.length > 0 && (
        <details className={classes.more} open={own.length === 0}>
          <summary>
            {others.length} {others.length === 1 ? "frame" : "frames"} of the platform and of libraries
          </summary>
          <Frames frames={others} />
        </details>
      )}
      <Text size="xs" c="dimmed" mt={4}>
        {place.join(" · ")} ·{" "}
        <TextLink to="/runs/$runId" params={{ runId: run.id }} search={{ tab: "events", kind: "log" }} size="xs">
          Log
        </TextLink>
        <Grader run={run} />
      </Text>
    </div>
  );
}

function Frames({ frames }: { frames: Frame[] }) {
  if (frames.length === 0) return null;
  return (
    <ol className={classes.frames}>
      {frames.map(frame => (
        <li key={`${frame.file}:${frame.line}:${frame.function}`} data-owner={frame.owner}>
          {frame.file}:{frame.line} {frame.function && `in ${frame.function}`}
          {frame.code && <code>{frame.code}</code>}
        </li>
      ))}
    </ol>
  );
}

/** The reward that the run trains on; nothing if it is not known any more. */
function Grader({ run }: { run: Run }) {
  const rewards = useQuery(rewardsQuery);
  const spec = (run.effective_spec ?? run.spec) as { reward?: { definition?: string } } | undefined;
  const [slug] = spec?.reward?.definition?.split("@") ?? [];
  const found = rewards.data?.data.find(one => one.slug === slug);
  if (!found) return null;
  return (
    <>
      {" · "}
      <TextLink to="/rewards/$rewardId" params={{ rewardId: found.id }} size="xs">
        Reward {found.name}
      </TextLink>
    </>
  );
}
