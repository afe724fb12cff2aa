// Package protection measures what the monitor is worth on recorded attacks.
//
// It reads recorded runs of real agents under prompt injection, replays each
// one through a [Decider], and counts which attacks would have been stopped
// and how often a person would have been asked for nothing. No model is run:
// the recording goes on as it was, so the figures are an open loop. They say
// nothing about an agent that tries another way after a refusal, nor about
// answers that are wrong without any tool call.
//
// The recorded texts are attack strings. They are data: nothing here follows
// them, stores them elsewhere or puts them into a message.
package protection
