How a cluster of three starts
a b c
A pod waits until the status names it: it alone may bootstrap the cluster | waits . .
It bootstraps the cluster, once and never again | leader . .
From etcd 3.6 on, the others join at once, as learners without a vote | leader learner learner
A learner that has caught up gets its vote | leader voter learner
The cluster is as its spec says | leader voter voter
