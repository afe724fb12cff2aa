// Package codingday measures how well the monitor works on days of ordinary coding work, with and
// without poisoned content in it.
//
// A task is written as data: a small repository, what the owner types, and the calls that a good
// coding agent makes; for the attack also what is poisoned, and the calls of a model that obeys it.
// Real agents did every task with a scripted model, with real commands in a throw-away home, and
// the messages of their hooks were recorded. Replaying a recording through the monitor shows which
// attacks would have been stopped and how often a person would have been asked.
//
// A replay follows the recording whatever the monitor decides, so its figures say nothing about a
// model that tries another way after a refusal. The tests can also do the tasks live
// (.ci/coding-live), with the real agents, a real monitor, and each task's own command that finds
// out whether the attacker reached the goal. Tasks with an odd number and all tasks of the third
// set are held out: only their totals are ever shown.
//
// A week is five days in one home: sessions of several agents in several repositories, with
// colleagues' commits and the owner's answers between them, and attacks that a model obeys
// (docs/week.md). Weeks are done live, too, and the messages that their monitor received are
// replayed.
package codingday
