// Package protection measures how well the monitor works on recorded attacks.
//
// It reads recorded runs of real agents under prompt injection, replays each one through a
// [Decider], and counts which attacks would have been stopped and how often a person would have
// been asked needlessly. No model runs: a replay follows the recording whatever the decider
// answers. So the figures say nothing about an agent that tries another way after a refusal, nor
// about answers that are wrong without any tool call.
//
// The recorded texts are attack strings. They are only data: nothing here follows them, stores them
// elsewhere or puts them into a message.
package protection
