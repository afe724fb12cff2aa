// Package telegram asks a person on the phone. A bot sends a card for each question, with a button
// for every answer; pressing one answers. The same bot can be a gate that shows each call in scope
// and waits.
//
// It answers nothing itself: a press becomes a command to the monitor, which verifies and records
// it. It sends no code anywhere and accepts only the configured users. Of messages to the bot it
// reads only replies to a card that asks for a place.
package telegram
