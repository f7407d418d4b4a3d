"""The picture of the platform's load: well-formed, points where they belong, and the wanted level between its axes."""

from xml.etree import ElementTree

from tests.bench.load_picture import HEIGHT, TOP, Point, picture


def test_the_curve_is_drawn_between_its_axes() -> None:
    drawn = ElementTree.fromstring(picture([Point(1, 0.03, 0.02), Point(64, 2.0, 0.1), Point(512, 20.0, 1.5)]))
    svg = "{http://www.w3.org/2000/svg}"
    ends = [float(dot.get("cy", "nan")) for dot in drawn.iter(f"{svg}circle")]
    assert len(ends) == 6
    assert all(TOP <= end <= TOP + HEIGHT for end in ends)
    assert ends[:3] == sorted(ends[:3], reverse=True), "more steps stand higher"
    # From 0.01 to 100: 1 is in the middle.
    [level, _] = [float(line.get("y1", "nan")) for line in drawn.iter(f"{svg}line")]
    assert level == TOP + HEIGHT / 2
