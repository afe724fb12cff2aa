// Package telegram asks a person on the phone. A bot sends a card for each
// question, with a button for every answer; touching one answers. The same bot
// can be a gate that shows each call in scope and waits.
//
// It answers nothing itself: a touch becomes a command to the monitor, which
// proves and records it. It sends no code anywhere, it believes nobody but the
// users it was told of, and of what people write to the bot it reads nothing but
// replies to a card that wants to hear a place.
package telegram
