"""English words that say nothing about what a message is about; they are neither indexed nor looked for."""

_WORDS = """
about above after again all also am an and any are aren as at be because been before being below between both but
by can cannot could couldn did didn do does doesn doing don down during each few for from further get had has hasn
have haven having he her here hers him his how if in into is isn it its itself just let like ll make may me might
more most must my myself need needs no nor not now of off on once only or other our ours out over own please re
really same shall she should shouldn so some such than that the their them then there these they this those through
to too under until up us use used using ve very want wants was wasn we were weren what when where which while who
whom whose why will with won would wouldn you your yours
"""
STOP_WORDS = frozenset(_WORDS.split())
