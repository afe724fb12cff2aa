// Package codingday measures what the monitor is worth on a day of ordinary
// coding work, with and without poisoned content in it.
//
// A task is written as data: a small repository, what the owner types, and the
// calls a good coding agent makes; for the attack also what is poisoned and the
// calls of a model that obeys it. Real agents were run on every task against a
// scripted model, with real commands in a throw-away home, and what their hooks
// told was recorded. Replaying a recording through the monitor shows which
// attacks would have been stopped and how often a person would have been asked.
//
// The recording goes on as it was: those figures say nothing about a model that
// tries another way after a refusal. The tests can also live through the tasks, with
// the real agents, a real monitor, and the task's own command to tell whether the
// attacker has what they want (.ci/coding-live). Tasks with an odd number and all of the third
// set are held out: nothing but their totals is ever shown.
//
// A week is five days of one home: sessions of several agents in several repositories, with
// colleagues' commits and the owner's answers between them, and attacks that a model obeys
// (docs/week.md). It is lived, too, and what its monitor was told is replayed.
package codingday
