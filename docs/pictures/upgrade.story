An upgrade, followers first
a b c
spec.version becomes 3.7 | leader/3.6 voter/3.6 voter/3.6
Clients of c move to the others, then its image changes | leader/3.6 voter/3.6 stops/3.6
c is healthy again on the same data; only now b follows | leader/3.6 stops/3.6 voter/3.7
The leader comes last: it hands leadership over as it ends | stops/3.6 leader/3.7 voter/3.7
All members run 3.7 | voter/3.7 leader/3.7 voter/3.7
