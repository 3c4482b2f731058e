A restore, and what is touched when
a b c d e f
Checking: the backup is read to its end; nothing is touched | leader voter voter . . .
Fetching: a new pod fetches it, and the old members serve | leader voter voter fetches . .
BuildingSeed: etcd's own tool creates its data directory | leader voter voter builds . .
The old pods are deleted; their volumes are kept | volume volume volume waits . .
Growing: the new member serves, and others join | volume volume volume leader learner learner
Done: the cluster is healthy, and the old volumes are deleted | . . . leader voter voter
