"""Words that say nothing about what is sought, in the four languages of the product.

CJK entries are pairs of characters, as the index cuts them, or single particles.
"""

from __future__ import annotations

_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by can
could did do does doing don't down during each few for from further had has have having he her here hers him his how i
if in into is it its itself just know knowledge let me more most my no nor not now of off on once only or other our out
over own same she should so some such than that the their them then there these they this those through to too under
until up use using very was way we were what when where which while who why will with would you your
"""
_SPANISH = """
a al algo ante antes aquí así aun aunque bajo bien cada como cómo con conocimiento contra cual cuál cuando cuándo cuya
cuyo de del desde donde dónde durante e el él ella ellas ellos en entre era es esa esas ese eso esos esta está están
estas este esto estos fue ha hace hacer han hasta hay la las le les lo los más me mi mientras muy nada ni no nos o otra
otro otros para pero poco por porque puede pueden qué que quien quién se sea ser si sí sin sobre solo son su sus
también tan te tiene todo todos tu un una unas uno unos usar uso y ya
"""
_JAPANESE = """
する され した して ます です ませ ない なら たら ため こと もの よう から まで など とき いる ある なる れる られ
せる させ でき きる とは には では ので のは のを のに への との にお おい いて つい に関 関す る方 方法 する方 知識
の で に を は が と も へ や か な だ
"""
_CHINESE = """
的 了 是 在 和 与 或 有 我 你 他 它 不 这 那 个 们 中 为 对 以 于 及 如何 怎么 怎样 什么 一个 可以 这个 那个 我们 你们
他们 关于 有关 知识 的知 方法 的方 使用 用于 以及 如果 因为 所以 进行
"""

STOPWORDS: frozenset[str] = frozenset(f"{_ENGLISH} {_SPANISH} {_JAPANESE} {_CHINESE}".split())
