/** The tour of a run: six parts of its page. In the fifth, the user applies a control. */
import type { RunTab } from "@/entities/runs/search";

export interface TourStep {
  title: string;
  text: string;
  /** Selectors of what the step is about; the first that is on the screen is marked. */
  places: string[];
  tab: RunTab | undefined;
}

/** Number of the step, from 1, that waits for a control before the tour continues. */
export const STEERING = 5;

export const STEPS: TourStep[] = [
  {
    title: "Run status",
    text:
      "Step, reward and phase, live. A phase that takes longer than usual turns amber. The strip also shows " +
      "the time left, as a range, and the cost so far.",
    places: ['[data-testid="phase-strip"]'],
    tab: undefined,
  },
  {
    title: "Learning",
    text:
      "Reward, length, entropy and the mismatch between engine and learner first; every other metric is further down, " +
      "or found with the search above the charts. Drag to zoom all of them; click a point for the rollouts behind it.",
    places: ['[data-testid="chart-reward"]'],
    tab: undefined,
  },
  {
    title: "Answers",
    text:
      "Groups of answers to the same prompt, with their rewards. Open one to read them side by side, down to single " +
      "tokens: advantage, log-probabilities and the weight version that sampled them.",
    places: ['[data-testid="groups-table"]', '[role="tablist"]'],
    tab: "rollouts",
  },
  {
    title: "Guards",
    text:
      "Guards look at every step: entropy that collapses, groups without signal, a reward that rises while the held-out " +
      "one falls. They alert, pause, change a field or roll back. Findings appear on the run’s badge.",
    places: ['[data-testid="guards-card"]', '[data-testid="open-controls"]'],
    tab: undefined,
  },
  {
    title: "Steer it",
    text:
      "Set the thinking budget to 12 tokens and press Apply, or change any other field. The run continues; the " +
      "change takes effect between two steps.",
    places: ['[data-testid="thinking-budget"]', '[data-testid="control-rail"]', '[data-testid="open-controls"]'],
    tab: undefined,
  },
  {
    title: "The effect",
    text:
      "Your change appears as a flag over the charts. Open it to see what changed beyond the noise, " +
      "to revert it, or to continue from before it in another run.",
    places: ['[data-testid="annotation-lane"]'],
    tab: undefined,
  },
];

/** What the steering step says of a run that cannot be steered any more, and of one whose visitor may not. */
export const ENDED = "This run has ended. Start the demo run or fork this one, and try it there.";
export const MAY_NOT = "Steering needs the operator role: operators set budgets, rates and mixtures here.";
