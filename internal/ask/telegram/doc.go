// Package telegram asks people on their phones. A bot sends a card for each question, with a button
// for each possible answer. The same bot can be a gate: it shows every call that needs a gate, and
// waits for an answer.
//
// It decides nothing itself: a press becomes a command to the monitor, which verifies and records
// it. It never sends an approval code, and accepts only the configured users. It ignores messages
// to the bot, except replies to a card that asks where a call goes.
package telegram
