/** The tour's card, which floats over the usable page, and the mark around its subject. */
import { Button, CloseButton, Group, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef } from "react";
import type { Run } from "@/api/model";
import { controlsQuery } from "@/entities/runs/queries";
import type { RunTab } from "@/entities/runs/search";
import { isLive } from "@/entities/runs/states";
import { useCan } from "@/features/session/session";
import { ENDED, MAY_NOT, STEERING, STEPS } from "./steps";
import classes from "./tour.module.css";
import { useTourSeen } from "./useTourSeen";

interface Props {
  run: Run;
  /** Number of the step, from 1. */
  at: number;
  /** Goes to a step and its tab; undefined ends the tour. */
  onGo: (at: number | undefined, tab: RunTab | undefined) => void;
}

export function Tour({ run, at, onGo }: Props) {
  const number = Math.min(Math.max(Math.trunc(at), 1), STEPS.length);
  const step = STEPS[number - 1] as (typeof STEPS)[number];
  const { setSeen } = useTourSeen();
  const card = useRef<HTMLDivElement>(null);
  const title = useId();
  const go = (next: number) => onGo(next, STEPS[next - 1]?.tab);
  const end = () => {
    setSeen(true);
    onGo(undefined, undefined);
  };
  useMarked(step.places);
  useSteered(run, number, () => go(STEERING + 1));
  useEffect(() => card.current?.focus(), [number]);
  const operator = useCan("operator");
  const hindered = number !== STEERING ? null : !isLive(run.state) ? ENDED : operator ? null : MAY_NOT;
  return (
    <Paper
      ref={card}
      className={classes.card}
      shadow="lg"
      withBorder
      role="dialog"
      aria-labelledby={title}
      tabIndex={-1}
      data-testid="tour"
      onKeyDown={event => event.key === "Escape" && end()}
    >
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <Text size="xs" c="dimmed" className="num">
            Step {number} of {STEPS.length}
          </Text>
          <Title order={2} size="h3" id={title}>
            {step.title}
          </Title>
        </div>
        <CloseButton aria-label="End the tour" onClick={end} />
      </Group>
      <Text size="sm" mt={6}>
        {hindered ?? step.text}
      </Text>
      <Group justify="space-between" mt="sm">
        <Button size="xs" variant="default" disabled={number === 1} onClick={() => go(number - 1)}>
          Back
        </Button>
        {number < STEPS.length ? (
          <Button
            size="xs"
            variant={number === STEERING && !hindered ? "default" : "filled"}
            onClick={() => go(number + 1)}
          >
            {number === STEERING ? "Skip" : "Next"}
          </Button>
        ) : (
          <Button size="xs" onClick={end}>
            Done
          </Button>
        )}
      </Group>
    </Paper>
  );
}

/** Marks the first of the places that is on the page, also when it comes later, and brings it into sight once. */
function useMarked(places: string[]) {
  useEffect(() => {
    let marked: Element | null = null;
    const mark = () => {
      const found = places.map(place => document.querySelector(place)).find(one => one !== null) ?? null;
      if (found === marked) return;
      marked?.removeAttribute("data-tour");
      found?.setAttribute("data-tour", "here");
      found?.scrollIntoView({ block: "nearest" });
      marked = found;
    };
    mark();
    const watch = new MutationObserver(mark);
    watch.observe(document.body, { childList: true, subtree: true });
    return () => {
      watch.disconnect();
      marked?.removeAttribute("data-tour");
    };
  }, [places]);
}

/** Continues once a control was applied since the steering step started. */
function useSteered(run: Run, number: number, onSteered: () => void) {
  const controls = useQuery(controlsQuery(run.id)).data?.data;
  const newest = controls?.reduce((most, one) => Math.max(most, one.revision), 0);
  const before = useRef<number | undefined>(undefined);
  const then = useRef(onSteered);
  useEffect(() => {
    then.current = onSteered;
  });
  useEffect(() => {
    if (number !== STEERING) before.current = undefined;
    else if (before.current === undefined) before.current = newest;
    else if (newest !== undefined && newest > before.current) then.current();
  }, [number, newest]);
}
