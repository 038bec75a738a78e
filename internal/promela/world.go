package promela

// world is the part of a model that is the same for every family: what the lock servers, the resource and the clients do,
// and what the laws look at. The names in capitals are set above it.
const world = `/* ---- What the laws look at. LAW watches one of them and keeps the states of the others out; without it all are. ---- */

#define OVERLAP 1
#define DOUBLE_HOLD 2
#define DOUBLE_BELIEF 4
#define STALE_WRITE 8
#define LOST_UPDATE 16
#define UNLOCKED_WRITE 32
#define TOKEN_REGRESS 64
#define REFUSED_HOLDER 128
#ifdef LAW
#define WATCH(l) (LAW == l)
#else
#define WATCH(l) 1
#endif
#define PROMISES (WATCH(OVERLAP) || WATCH(DOUBLE_HOLD))
#define COPIES (WATCH(LOST_UPDATE) || GUARD_VERSION)

byte broken;              /* the laws that the last piece of work broke */
#if PROMISES
tick promise[CLIENTS * SERVERS]; /* what a client may rely on at a server: until then */
#endif
#if WATCH(DOUBLE_BELIEF)
bool believes[CLIENTS];   /* it has heard a grant and nothing to the contrary */
#endif
#if WATCH(STALE_WRITE)
num top;                  /* the highest token of an accepted write, whatever the resource forgets */
#endif
#if WATCH(TOKEN_REGRESS)
num newest;               /* the highest token of a grant */
#endif

/* ---- The world ---- */

#define NOBODY 0          /* clients count from 1 where nobody is one of the answers */

tick now;
tick due[STEPS] = NEVER;  /* when a line has its turn */
#if PAUSES
place key[STEPS];         /* its place within the tick: lines in the order of the file; below them what a pause put off */
tick until[CLIENTS];      /* paused until then; 0: not paused */
place last[CLIENTS];      /* the place given to what its pause put off last */
#define KEY(ln) key[ln]
#define ROOM (STEPS + 1)
#else
#define KEY(ln) ln
#endif
#if RETRIES
tick till[RETRIES];       /* by line with a retry: the end of the asking that is going on; 0: none is */
#endif

/* clients */
num token[CLIENTS];       /* of the last grant; 0: none */
bool checked[CLIENTS];    /* the last check said yes */
#if COPIES
num copy[CLIENTS];        /* the version that it read, or that its accepted write made */
#endif
#if IF_VALID
tick valid[CLIENTS];      /* by its own reckoning the lease runs until then */
#endif

/* lock servers */
byte holder[SERVERS];
tick end[SERVERS];        /* of the holder's lease */
#if ORDERED
num log;                  /* the grants so far */
#else
num counter[SERVERS];     /* each numbers its own votes */
#endif
#if SERVERS_FAIL
bool down[SERVERS];
#define UP(sv) (!down[sv])
#else
#define UP(sv) true
#endif

/* the resource */
#if COPIES
num version;
#endif
#if FENCING
num highest;              /* the highest token it knows */
#endif
#if FENCING == STRICT
num taken;                /* the highest token of an accepted write, plus 1; 0: none */
#endif

/* who has work in this tick: each actor's first line, plus 1; and who goes next */
byte first[ACTORS];
byte pick;

/* scratch of the piece of work that is being done; no part of a state */
hidden byte ln;           /* a line */
hidden byte chosen;       /* a line, plus 1 */
hidden int sv, cl;        /* a server, a client */
hidden int votes, answers, count;
hidden num vote;          /* the highest */
hidden byte won[SERVERS]; /* it voted for the attempt that is going on */
hidden byte granted, over, refused;
hidden tick soonest;

#define MAX(a, b) (a > b -> a : b)

/* Time goes to the next tick in which a line has its turn. Leases that end come first. */
inline move_on() {
  d_step {
    broken = 0;
    soonest = NEVER;
    for (ln : 0 .. STEPS - 1) { if :: due[ln] < soonest -> soonest = due[ln] :: else fi }
    now = soonest;
    for (sv : 0 .. SERVERS - 1) {
      if
      :: end[sv] <= now -> holder[sv] = NOBODY; end[sv] = 0
      :: else
      fi
    }
#if PROMISES
    for (sv : 0 .. CLIENTS * SERVERS - 1) { if :: promise[sv] <= now -> promise[sv] = 0 :: else fi }
#endif
#if PAUSES
    for (cl : 0 .. CLIENTS - 1) { if :: until[cl] <= now -> until[cl] = 0; last[cl] = 0 :: else fi }
#endif
#if IF_VALID
    for (cl : 0 .. CLIENTS - 1) { if :: valid[cl] <= now -> valid[cl] = 0 :: else fi }
#endif
    soonest = 0
  }
}

/* A line is its actor's first one if none was before it. */
inline turn(actor, line) {
  if
  :: due[line] == now && (first[actor] == 0 || KEY(line) < KEY(first[actor] - 1)) -> first[actor] = line + 1
  :: else
  fi
}

#if PAUSES
/* The first line that a paused client has in this tick is taken when the pause ends, after what was put off before it. */
inline held_up(line) {
  if
  :: due[line] == now && (chosen == 0 || key[line] < key[chosen - 1]) -> chosen = line + 1
  :: else
  fi
}

inline put_off(client) {
  due[chosen - 1] = until[client];
  if
  :: chosen - 1 > last[client] / ROOM -> last[client] = (chosen - 1) * ROOM + 1
  :: else -> last[client] = last[client] + 1
  fi;
  key[chosen - 1] = last[client]
}

inline pause_until(client, at) {
  until[client] = (at > now -> at : 0);
  last[client] = 0
}
#endif

/* The line that goes next has no turn any more, unless its work gives it one. */
inline taken_up() {
  for (cl : 0 .. ACTORS - 1) { first[cl] = 0 };
  if
  :: pick ->
    due[pick - 1] = NEVER;
#if PAUSES
    key[pick - 1] = (pick - 1) * ROOM;
#endif
  :: else
  fi
}

inline postpone(line, by) {
  if :: due[line] != NEVER -> due[line] = due[line] + by :: else fi
}

/* How many servers that are up count a lease of the client as living: count. */
inline leases(client) {
  count = 0;
  for (sv : 0 .. SERVERS - 1) { if :: UP(sv) && holder[sv] == client + 1 -> count++ :: else fi }
}

inline believe(client) {
#if WATCH(DOUBLE_BELIEF)
  believes[client] = true;
  for (cl : 0 .. CLIENTS - 1) {
    if :: cl != client && believes[cl] -> broken = broken | DOUBLE_BELIEF :: else fi
  }
#else
  skip
#endif
}

inline disbelieve(client) {
#if WATCH(DOUBLE_BELIEF)
  believes[client] = false;
#endif
#if IF_VALID
  valid[client] = 0;
#endif
  skip
}

/* The votes that were won are the client's now: leases and promises of ttl ticks. */
inline keep_votes(client, ttl) {
  for (sv : 0 .. SERVERS - 1) {
    if
    :: won[sv] && ttl > 0 ->
      holder[sv] = client + 1;
      end[sv] = (ttl == NEVER -> NEVER : now + ttl);
#if PROMISES
      promise[client * SERVERS + sv] = MAX(promise[client * SERVERS + sv], end[sv]);
      for (cl : 0 .. CLIENTS - 1) {
        if :: cl != client && promise[cl * SERVERS + sv] > now -> broken = broken | OVERLAP :: else fi
      }
#endif
    :: else
    fi
  }
#if WATCH(DOUBLE_HOLD)
  promised(client, votes);
  if
  :: votes >= QUORUM && ttl > 0 ->
    for (cl : 0 .. CLIENTS - 1) {
      promised(cl, count);
      if :: cl != client && count >= QUORUM -> broken = broken | DOUBLE_HOLD :: else fi
    }
  :: else
  fi
#endif
}

#if WATCH(DOUBLE_HOLD)
inline promised(client, servers) {
  servers = 0;
  for (sv : 0 .. SERVERS - 1) { if :: promise[client * SERVERS + sv] > now -> servers++ :: else fi }
}
#endif

/* The client asks the servers for which asked is true, and is granted the lock if a quorum votes. The grant's token is the
   highest vote. What a failed attempt won is handed back in the same moment, unless HANDBACK is off. */
inline ask(client, ttl, asked) {
  votes = 0; vote = 0; granted = false;
  for (sv : 0 .. SERVERS - 1) {
    won[sv] = false;
    if
    :: (asked) && UP(sv) && holder[sv] == NOBODY ->
      won[sv] = true; votes++;
#if !ORDERED
      counter[sv]++;
      vote = MAX(vote, counter[sv])
#endif
    :: else
    fi
  }
  if
  :: votes >= QUORUM ->
#if ORDERED
    log++; vote = log;
#endif
    keep_votes(client, ttl);
    token[client] = vote;
#if FENCING && FENCE_AT == AT_GRANT
    highest = MAX(highest, vote);
#endif
#if IF_VALID
    valid[client] = (ttl == 0 -> 0 : (ttl == NEVER -> NEVER : now + ttl));
#endif
#if WATCH(TOKEN_REGRESS)
    if :: vote <= newest -> broken = broken | TOKEN_REGRESS :: else -> newest = vote fi;
#endif
    believe(client);
    granted = true
  :: else ->
#if !HANDBACK
    keep_votes(client, ttl)
#else
    skip
#endif
  fi;
  votes = 0; vote = 0
}

#if RETRIES
/* One try of an acquire that asks again until the given tick: over tells that it is the last one. */
inline try(client, ttl, asked, trial, ends, every) {
  granted = false;
  if
  :: till[trial] != 0 && (now > till[trial] || now > HORIZON) -> over = true /* a pause carried it past the end */
  :: else ->
    if :: till[trial] == 0 -> till[trial] = ends :: else fi;
    ask(client, ttl, asked);
    over = (granted || now + every > till[trial] || now + every > HORIZON)
  fi;
  if :: over -> till[trial] = 0 :: else fi
}
#endif

/* The client lets go: count servers freed the lock, of the answers that it hears. */
inline let_go(client) {
  disbelieve(client);
  count = 0; answers = 0;
  for (sv : 0 .. SERVERS - 1) {
#if PROMISES
    promise[client * SERVERS + sv] = 0;
#endif
    if
    :: UP(sv) ->
      answers++;
      if
      :: holder[sv] == client + 1 || (!OWNER_CHECK && holder[sv] != NOBODY) -> holder[sv] = NOBODY; end[sv] = 0; count++
      :: else
      fi
    :: else
    fi
  }
}

/* The client asks whether it still holds the lock: count servers say yes, of the answers that it hears. */
inline look(client) {
  answers = 0;
  for (sv : 0 .. SERVERS - 1) { if :: UP(sv) -> answers++ :: else fi }
  leases(client);
  if
  :: count >= QUORUM -> checked[client] = true
  :: count < QUORUM && answers > 0 -> checked[client] = false; disbelieve(client)
  :: else
  fi
}

inline copy_value(client) {
#if COPIES
  copy[client] = version;
#endif
#if FENCING && FENCE_AT != AT_WRITE
  highest = MAX(highest, token[client]);
#endif
  skip
}

/* A write lands: refused is 0 if it is accepted; 1 if a guard refuses it for the data's or the time's sake; 2 if the fence or
   the lock does, from which its client learns. The guards are the expressions that refuse. */
inline land(client, appends, guard_version, guard_lock, guard_before) {
  leases(client);
  refused = 0;
#if FENCING
  if :: token[client] < highest -> refused = 2 :: else fi;
#endif
#if FENCING == STRICT
  if :: token[client] < taken -> refused = 2 :: else fi;
#endif
#if WATCH(REFUSED_HOLDER)
  if :: refused && count >= QUORUM -> broken = broken | REFUSED_HOLDER :: else fi;
#endif
  if
  :: refused -> skip
  :: !refused && (guard_version) -> refused = 1
  :: !refused && !(guard_version) && (guard_lock) -> refused = 2
  :: !refused && !(guard_version) && !(guard_lock) && (guard_before) -> refused = 1
  :: else
  fi;
  if
  :: refused == 2 -> disbelieve(client)
  :: refused == 1 -> skip
  :: else ->
#if WATCH(STALE_WRITE)
    if :: token[client] < top -> broken = broken | STALE_WRITE :: else -> top = token[client] fi;
#endif
#if WATCH(LOST_UPDATE)
    if :: appends && copy[client] < version -> broken = broken | LOST_UPDATE :: else fi;
#endif
#if WATCH(UNLOCKED_WRITE)
    if :: count < QUORUM -> broken = broken | UNLOCKED_WRITE :: else fi;
#endif
#if COPIES
    version++;
    copy[client] = version;
#endif
#if FENCING
    highest = MAX(highest, token[client]);
#endif
#if FENCING == STRICT
    taken = MAX(taken, token[client] + 1);
#endif
    skip
  fi
}

inline forget_tokens() {
#if FENCING
  highest = 0;
#endif
#if FENCING == STRICT
  taken = 0;
#endif
  skip
}

inline forget_lease(server) { holder[server] = NOBODY; end[server] = 0 }

inline forget_counter(server) {
#if ORDERED
  skip
#else
  counter[server] = 0
#endif
}

/* ---- The schedule ---- */

`
