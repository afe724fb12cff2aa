// Package linetext takes text apart by lines: what differs, where a problem
// stands, what fits on a terminal, where a line is to be put. Whoever wrote the
// text, nothing that it returns for a terminal can steer one. Only [Steps] and a [Bar] write.
package linetext
