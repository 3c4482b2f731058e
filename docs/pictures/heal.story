A node is lost with the member on it
a b c d
The cluster serves | leader voter voter .
The node of c does not answer; it may come back, and two voters are a quorum | leader voter lost .
After nodeLostToleranceSeconds, c is removed from etcd | leader voter . .
Another member joins as a learner | leader voter . learner
It has caught up and gets its vote | leader voter . voter
