// Package engine is the world of a schedule as a pure function: a Program goes in, a Record comes out. It knows lock
// servers, leases, tokens, clients, messages, clocks and one resource; it judges nothing, prints nothing and reads no
// clock, file, random source or map order.
package engine
