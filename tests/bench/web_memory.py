"""Memory of the web process after it has served every kind of request, and whether torch is in it."""

from tests.bench.report import Figure
from tests.support.installation import Installation


def measure(installation: Installation) -> list[Figure]:
    """Resident memory; libraries of torch that are mapped."""
    for path in ("/runs", "/datasets", "/rewards", "/policies", "/spec/schema", "/spec/recipes", "/audit"):
        installation.api.get(path)
    web = installation.process("uvicorn")
    torch = sum("libtorch" in mapping.path for mapping in web.memory_maps())
    return [
        Figure("web process, resident", web.memory_info().rss / 2**20, "MB", "< 250"),
        Figure("libraries of torch in it", torch, "", "0"),
    ]
