import js from "@eslint/js";
import prettier from "eslint-config-prettier";
import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import globals from "globals";
import tseslint from "typescript-eslint";
import { rooms } from "./eslint.rooms.js";

export default tseslint.config(
  { ignores: ["dist", "src/api/generated", "test-results", "playwright-report"] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ["src/**/*.{ts,tsx}"],
    plugins: { "react-hooks": reactHooks },
    extends: [jsxA11y.flatConfigs.recommended],
    languageOptions: { globals: globals.browser },
    rules: {
      ...reactHooks.configs.recommended.rules,
      "@typescript-eslint/consistent-type-imports": "error",
      // Notes with a tooltip must be reachable by keyboard.
      "jsx-a11y/no-noninteractive-tabindex": ["error", { tags: [], roles: ["note", "tabpanel"] }],
    },
  },
  ...rooms,
  {
    files: ["*.config.*", "scripts/**", "public/*.js", "e2e/**"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
  prettier,
);
