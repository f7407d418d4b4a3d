/**
 * The rooms of the console and the floors they stand on. A room is one folder of `src/`; it imports rooms on floors
 * below its own and nothing else. So no two rooms know each other, and a circle through several rooms cannot arise.
 *
 * Files of a room say `./name` to each other and `@/room/name` across rooms. With that, the text of an import tells
 * its room, and ESLint's own rules suffice: no plugin, no resolver. Inside a room files may call one another in
 * circles; the fields of a schema form do, because schemas nest.
 */
export const FLOORS = [
  ["lib", "theme"],
  ["api"],
  ["ui"],
  // Know no object of the platform.
  ["features/session", "features/schema-form"],
  // What features know of the objects of the platform: queries, their merging with the stream, view state.
  [
    "entities/clusters",
    "entities/datasets",
    "entities/policies",
    "entities/reports",
    "entities/rewards",
    "entities/runs",
  ],
  // The change's card, which the controls and the lane over the charts show.
  ["features/effects"],
  [
    "features/datasets/mapping",
    "features/stream",
    "features/pickers",
    "features/controls",
    "features/rewards/samples",
    "features/runs/forecast",
    "features/runs/parts",
  ],
  ["features/charts", "features/guards", "features/rollouts", "features/tour", "features/datasets/imports"],
  ["features/rewards/rubric", "features/incidents", "features/runs/overlay"],
  ["features/rewards/definition"],
  ["features/rewards/bench", "features/rewards/proposals", "features/rehearsals"],
  // Tabs of a dataset's version.
  [
    "features/datasets/card",
    "features/datasets/lab",
    "features/datasets/profile",
    "features/datasets/rows",
    "features/datasets/sharing",
  ],
  // Pages. Only the router knows them.
  [
    "features/account",
    "features/clusters",
    "features/datasets",
    "features/home",
    "features/policies",
    "features/reports",
    "features/rewards/page",
    "features/runs/compare",
    "features/runs/create",
    "features/runs/list",
    "features/runs/page",
    "features/shell",
    "features/team",
  ],
  ["app"],
];

/** Rooms that the files of a room may import. */
export function below(room) {
  return FLOORS.slice(
    0,
    FLOORS.findIndex(floor => floor.includes(room)),
  ).flat();
}

const slash = text => text.replaceAll("/", "\\u002F");

const CAST = {
  selector: "TSAsExpression > TSAsExpression[typeAnnotation.type='TSUnknownKeyword']",
  message:
    "A cast through unknown hides what the types know. Types of answers are generated from openapi.json; " +
    "read free JSON with a function that checks it, as src/api/events.ts does.",
};

function rules(room, allowed, isTest) {
  // An import of a file of this project that leaves the room by its path, or is no `@/<allowed room>/name`.
  const names = allowed.length > 0 ? `(?!(?:${allowed.join("|")})/[^/]+$)` : "";
  const regex = `^(?:\\.\\./|\\./(?:.*/)?\\.\\./|@/${names})`;
  const message =
    `The room ${room} imports its own files as "./name" and rooms on floors below it as "@/room/name"; ` +
    "the floors stand in eslint.rooms.js.";
  return {
    "no-restricted-imports": ["error", { patterns: [{ regex, message }] }],
    "no-restricted-syntax": [
      "error",
      { selector: `ImportExpression > Literal[value=/${slash(regex)}/]`, message },
      ...(isTest ? [] : [CAST]),
    ],
  };
}

/** ESLint's configuration of the rooms: one entry for the sources of each, one for its tests. */
export const rooms = FLOORS.flat().flatMap(room => [
  { files: [`src/${room}/*.{ts,tsx}`], rules: rules(room, below(room), false) },
  { files: [`src/${room}/*.test.{ts,tsx}`], rules: rules(room, [...below(room), "test"], true) },
]);
