// Package schedule says which command a watch owes to a lake, and when to look again.
// Takes: a plan (time zone, time of the run, interval of syncs, time of maintenance, jitter), what is known of earlier
// commands, and an instant.
// Gives: the command that is due, with the instant and the day that the plan gives it; or the next instant to look.
// Keeps: it is pure: no clock, network or disk, and the same arguments give the same answer. Each night of the zone has
// one instant, on days with a change of the zone's offset, too. A night is due once, and until a run of it needs no other.
// Fails: only the parsers, for a text that is no time of day.
// May change here: how jitter is derived, and which command comes first.
package schedule
