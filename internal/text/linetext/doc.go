// Package linetext takes text apart by lines: how two texts differ, where in a text a problem is,
// how a text fits on a terminal, where a line is inserted. Nothing that it returns for a terminal
// can steer one, even if a stranger wrote the text. Only [Steps] writes.
package linetext
