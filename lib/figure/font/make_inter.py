"""Writes inter.json: the glyphs of Inter that figures need, and how wide each is; inter_ttf.json: the same for PDF.

Run as `python3 make_inter.py <folder>` with the folder `web` of the npm package inter-ui 4.1.1 (OFL 1.1, OFL.txt) and
fontTools 4 with brotli. The fonts are WOFF2 in base64 inside JSON, for JSON can be imported from a URL and bytes
cannot. Those of inter_ttf.json are TrueType, deflated. Widths are in units of 1/2048 em.
"""

import base64
import io
import json
import sys
import zlib
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

WEIGHTS = {"400": "Inter-Regular.woff2", "600": "Inter-SemiBold.woff2"}
# Latin, Greek, superscripts and subscripts, arrows, the usual signs of mathematics.
CHARACTERS = [
    (0x20, 0x7E), (0xA0, 0xFF), (0x131, 0x131), (0x152, 0x153), (0x391, 0x3A9), (0x3B1, 0x3C9), (0x2009, 0x200A),
    (0x2010, 0x2015), (0x2018, 0x201E), (0x2020, 0x2022), (0x2026, 0x2026), (0x2030, 0x2030), (0x2032, 0x2033),
    (0x2070, 0x208E), (0x2190, 0x2193), (0x2202, 0x2202), (0x2206, 0x2206), (0x2211, 0x2212), (0x2215, 0x2215),
    (0x221A, 0x221A), (0x221E, 0x221E), (0x2248, 0x2248), (0x2260, 0x2260), (0x2264, 0x2265),
]

wanted = [code for first, last in CHARACTERS for code in range(first, last + 1)]
options = subset.Options()
options.layout_features = ["kern"]
options.hinting = False
options.flavor = "woff2"
# Family, weight, copyright and licence; 16 and 17 make the weights one family.
options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14, 16, 17]
document = {"family": "Inter", "license": "OFL-1.1", "units_per_em": 2048, "woff2_base64": {}, "widths": {}}
truetype = {}
for weight, name in WEIGHTS.items():
    font = TTFont(Path(sys.argv[1]) / name, recalcTimestamp=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=wanted)
    subsetter.subset(font)
    assert font["head"].unitsPerEm == document["units_per_em"]
    characters = font.getBestCmap()
    document["widths"][weight] = {chr(code): font["hmtx"][characters[code]][0] for code in sorted(characters)}
    font.flavor = "woff2"
    bytes_ = io.BytesIO()
    font.save(bytes_)
    document["woff2_base64"][weight] = base64.b64encode(bytes_.getvalue()).decode()
    font = TTFont(io.BytesIO(bytes_.getvalue()), recalcTimestamp=False)
    font.flavor = None
    bytes_ = io.BytesIO()
    font.save(bytes_)
    truetype[weight] = base64.b64encode(zlib.compress(bytes_.getvalue(), 9)).decode()
target = Path(__file__).with_name("inter.json")
target.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
target.with_name("inter_ttf.json").write_text(json.dumps(truetype, separators=(",", ":")) + "\n", encoding="utf-8")
