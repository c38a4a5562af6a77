"""Prints the contacts of two parts: python distance.py A.step B.step [D_MAX]"""

import sys

import feeler

a, b = (feeler.prepare_step(path).body() for path in sys.argv[1:3])
d_max = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
pair = feeler.ContactPair(a, b)
for contact in pair.query(d_max=d_max):
    print(f"{contact['distance']:.9f} mm  {contact['point_a']}  {contact['point_b']}")
print(pair.verdict)
