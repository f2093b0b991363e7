import sys, benchmarks.servers
from benchmarks.servers import bench
from benchmarks.figures import table
with bench() as b:
    import benchmarks.broadcasts.preparation as p
    if len(sys.argv)>1:
        p.CONTACTS=int(sys.argv[1]); p.PART=min(p.PART,p.CONTACTS)
    print(table(p.TITLE,p.run(b)))
    from django.db import connection
    import os
