"""Browser and system of a User-Agent header as text, for people who look for sessions that are not theirs."""

_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""Marks in order of precedence: Edge also claims to be Chrome, and Chrome to be Safari."""
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_LONGEST = 60


def device_in_words(user_agent: str) -> str:
    """The device, such as "Firefox on Linux"; the first words of another program's header; or "Unknown device"."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    first = "".join(sign for sign in user_agent.split(" ")[0] if sign.isascii() and sign.isprintable())
    return browser or system or first[:_LONGEST] or "Unknown device"
