import { Component, type ReactNode } from "react";

interface Props {
  /** What the children are drawn from: once it changes, they are tried again. */
  of: string;
  otherwise: ReactNode;
  children: ReactNode;
}

interface State {
  of: string;
  hasFailed: boolean;
}

/** Draws something else where drawing its children fails, so that the rest of the page stands. */
export class Otherwise extends Component<Props, State> {
  override state: State = { of: this.props.of, hasFailed: false };

  static getDerivedStateFromError(): Partial<State> {
    return { hasFailed: true };
  }

  static getDerivedStateFromProps(props: Props, state: State): State | null {
    return props.of === state.of ? null : { of: props.of, hasFailed: false };
  }

  override render() {
    return this.state.hasFailed ? this.props.otherwise : this.props.children;
  }
}
