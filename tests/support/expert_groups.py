"""Several engines in one process: what vLLM makes once for all of them."""


def make_group_of_experts() -> None:
    """vLLM makes its groups of processes once, by what the first engine needs: where that was a dense one, there is
    none for experts yet. To be called before each further engine."""
    from vllm.distributed import parallel_state

    if parallel_state.model_parallel_is_initialized() and parallel_state._EP is None:
        parallel_state._EP = parallel_state.get_tp_group()
