import { type ComponentType, createElement, lazy } from "react";

/** Milliseconds for which a failure stands: React renders what has failed once more before it gives up. */
const STANDS = 500;

/**
 * A part of a page whose code is fetched when it is first shown, as by React's `lazy`; what did not come is fetched
 * again when it is shown again, where `lazy` alone keeps its failure until the page is loaded again.
 */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const unfetched = () =>
    lazy(() => {
      const asked = load();
      asked.catch(() => window.setTimeout(() => (part = unfetched()), STANDS));
      return asked.then(found => ({ default: found }));
    });
  let part = unfetched();
  return function Lazily(props: P) {
    return createElement(part as ComponentType<P>, props);
  };
}
